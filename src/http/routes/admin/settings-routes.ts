/** Admin API: the settings in force. They are environment variables: a change needs a restart. */
import { Type } from 'typebox';
import { named } from '../../fields/named.ts';
import { type AnsweredRoute, route } from '../../route.ts';

const Setting = named('Setting', {
  name: Type.String({ description: 'the environment variable' }),
  value: Type.Optional(Type.String({ description: 'absent for secrets, and if it is not set' })),
  source: Type.Union([Type.Literal('default'), Type.Literal('environment'), Type.Literal('file')], {
    description: '`file`: a secret from the file that `<name>_FILE` names',
  }),
  isSecret: Type.Boolean(),
  isSet: Type.Boolean(),
});

export const SETTINGS_ROUTES: readonly AnsweredRoute[] = [
  route('GET', '/admin/v1/settings', {
    gate: 'admin',
    permission: 'settings:read',
    summary: 'Lists the settings in force with their source. Of secrets it says only whether they are set.',
    reply: Type.Object({ data: Type.Array(Setting) }),
    answer: (deps) => ({ data: deps.shownSettings() }),
  }),
];
