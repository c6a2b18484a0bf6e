/** The pages of the console. */
import { GatewayError } from '../../../canonical/errors.ts';
import type { HttpDeps } from '../../http-deps.ts';
import { type AnsweredRoute, route } from '../../route.ts';

/** After all other routes below `/console`. */
export const PAGE_ROUTES: readonly AnsweredRoute[] = ['/console', '/console/', '/console/:path{.+}'].map((path) =>
  route('GET', path, {
    gate: 'open',
    summary: 'The pages of the console.',
    answer: ({ pages }: HttpDeps, asked) => {
      const name = asked.path.path ?? '';
      if (!pages || /^(api|v1|v1beta|v2)(\/|$)/.test(name))
        throw new GatewayError('not_found', `There is no route for /console/${name}.`);
      return pages.answer(name, asked.headers);
    },
  }),
);
