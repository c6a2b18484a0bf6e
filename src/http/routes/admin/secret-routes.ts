/** Admin API: rotation of the key that encrypts providers' credentials. */
import { Type } from 'typebox';
import { auditRow } from '../../../access/audit.ts';
import { type AnsweredRoute, route } from '../../route.ts';

export const SECRET_ROUTES: readonly AnsweredRoute[] = [
  route('POST', '/admin/v1/secrets/rotate', {
    gate: 'admin',
    permission: 'settings:write',
    summary:
      "Encrypts providers' credentials with a new key: with the server's MODELPORT_SECRET_KEY if it is set (the old one in MODELPORT_SECRET_KEY_PREVIOUS), otherwise with a key newly made for its key file.",
    reply: Type.Object({
      from: Type.String({ description: 'where the new key is stored' }),
      providers: Type.Integer({ description: 'how many providers were re-encrypted' }),
    }),
    answer: async ({ store, rotateSecrets, now }, { caller }) => {
      const done = await rotateSecrets();
      const change = { actor: caller.key, action: 'secrets.rotated', subject: 'secrets', after: done };
      await store.recordAudit(auditRow(change, now()));
      return done;
    },
  }),
];
