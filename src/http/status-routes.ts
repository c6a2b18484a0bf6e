/** Says who answers here, whether it lives, and whether it can work. Anybody may ask. */
import { Type } from 'typebox';
import { type AnsweredRoute, route } from './route.ts';

export const STATUS_ROUTES: readonly AnsweredRoute[] = [
  route('GET', '/', {
    gate: 'open',
    summary: 'Says what answers here.',
    reply: Type.Object({ name: Type.Literal('modelport'), version: Type.String() }),
    answer: (rooms) => ({ name: 'modelport', version: rooms.settings.version }),
  }),
  route('GET', '/health', {
    gate: 'open',
    summary: 'Says that the process lives.',
    reply: Type.Object({ status: Type.Literal('ok') }),
    answer: () => ({ status: 'ok' }),
  }),
  route('GET', '/ready', {
    gate: 'open',
    summary: 'Says whether the database answers and is migrated; 503 where not.',
    reply: Type.Object({ status: Type.Literal('ready') }),
    answer: async ({ store }) => {
      const ready = await store.ready().catch(() => false);
      return ready ? { status: 'ready' } : Response.json({ status: 'database not ready' }, { status: 503 });
    },
  }),
];
