/** Says who answers here, whether it lives, and whether it can work. Anybody may ask. */
import { Type } from 'typebox';
import { type AnsweredRoute, route } from '../../route.ts';

export const STATUS_ROUTES: readonly AnsweredRoute[] = [
  route('GET', '/', {
    gate: 'open',
    summary: 'Says what answers here.',
    reply: Type.Object({ name: Type.Literal('modelport'), version: Type.String() }),
    answer: (deps) => ({ name: 'modelport', version: deps.settings.version }),
  }),
  route('GET', '/health', {
    gate: 'open',
    summary: 'Says that the process lives.',
    reply: Type.Object({ status: Type.Literal('ok') }),
    answer: () => ({ status: 'ok' }),
  }),
  route('GET', '/ready', {
    gate: 'open',
    summary:
      'Says whether a call can be taken now: the database takes a write and its schema can be used; 503 and the reasons where not.',
    reply: Type.Object({
      status: Type.Literal('ready'),
      warnings: Type.Optional(
        Type.Array(Type.String(), { description: 'what should be looked at although calls are taken' }),
      ),
    }),
    answer: async ({ readiness }) => {
      const { ready, reasons, warnings } = await readiness();
      if (!ready) return Response.json({ status: 'not ready', reasons }, { status: 503 });
      return warnings.length > 0 ? { status: 'ready', warnings } : { status: 'ready' };
    },
  }),
];
