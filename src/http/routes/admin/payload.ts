/** Admin API: the captured request and reply of a call. */
import { Type } from 'typebox';
import { GatewayError } from '../../../canonical/errors.ts';
import { named } from '../../fields/named.ts';
import { Time } from '../../fields/time.ts';
import type { HttpDeps } from '../../http-deps.ts';
import type { RouteRequest } from '../../route.ts';
import { audited } from './audit-routes.ts';

const PART = {
  bytes: Type.Integer({ description: 'the size, also of what is not kept' }),
  sha256: Type.String({ description: 'of all bytes' }),
  truncated: Type.Optional(Type.Boolean({ description: 'only the first bytes are kept' })),
  text: Type.Optional(Type.String({ description: 'full: the text, without keys' })),
  base64: Type.Optional(Type.String({ description: 'full: bytes that are no text' })),
  content: Type.Optional(Type.Unknown({ description: 'redacted: the structure; texts are their lengths' })),
  removed: Type.Optional(Type.String({ description: 'redacted: why there is no structure' })),
};

export const Payload = named('CallPayload', {
  call: Type.String(),
  at: Time,
  account: Type.String(),
  key: Type.String(),
  model: Type.String(),
  format: Type.String({ description: "the client's API format" }),
  capture: Type.String({ description: 'hash, redacted or full' }),
  request: Type.Object(PART),
  reply: Type.Object({
    status: Type.Integer(),
    contentType: Type.String(),
    end: Type.String({ description: 'complete, broken, or left by the client' }),
    ...PART,
  }),
});

/** The audit row is written before anything is read. */
export async function readPayload(deps: HttpDeps, { path: { id = '' }, caller }: RouteRequest): Promise<object> {
  const call = await deps.store.call(id);
  if (!call) throw new GatewayError('not_found', `There is no call "${id}".`, { param: 'id' });
  const about = { account: call.account, key: call.key, model: call.model };
  await deps.store.recordAudit(audited(deps, caller, 'payload.read', id)(undefined, about));
  const payload = await deps.captures.read(call);
  if (payload === undefined) {
    const sentence = `Nothing of the call "${id}" was captured, or it is not kept any more.`;
    throw new GatewayError('not_found', sentence, { param: 'id' });
  }
  return payload as object;
}
