/** Routes for name and version, health, and readiness. No key needed. */
import { Type } from 'typebox';
import { type AnsweredRoute, route } from '../../route.ts';

export const STATUS_ROUTES: readonly AnsweredRoute[] = [
  route('GET', '/', {
    gate: 'open',
    summary: 'Shows name and version of the service. A browser is redirected to the console, if there is one.',
    reply: Type.Object({ name: Type.Literal('modelport'), version: Type.String() }),
    answer: ({ pages, settings }, { headers }) => {
      // Browsers ask for a page, programs for anything.
      const isBrowser = pages !== undefined && (headers.get('accept') ?? '').includes('text/html');
      if (isBrowser) return new Response(null, { status: 303, headers: { location: '/console/', vary: 'accept' } });
      return { name: 'modelport', version: settings.version };
    },
  }),
  route('GET', '/health', {
    gate: 'open',
    summary: 'Reports that the process is alive.',
    reply: Type.Object({ status: Type.Literal('ok') }),
    answer: () => ({ status: 'ok' }),
  }),
  route('GET', '/ready', {
    gate: 'open',
    summary:
      'Reports whether the process can take calls: the database accepts a write and has a compatible schema. Otherwise 503 with the reasons.',
    reply: Type.Object({
      status: Type.Literal('ready'),
      warnings: Type.Optional(Type.Array(Type.String(), { description: 'problems that do not prevent calls' })),
    }),
    answer: async ({ readiness }) => {
      const { ready, reasons, warnings } = await readiness();
      if (!ready) return Response.json({ status: 'not ready', reasons }, { status: 503 });
      return warnings.length > 0 ? { status: 'ready', warnings } : { status: 'ready' };
    },
  }),
];
