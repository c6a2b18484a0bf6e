/** The pages of the console. */
import { GatewayError } from '../../../canonical/errors.ts';
import { type AnsweredRoute, route } from '../../route.ts';

/** These are not pages. */
const OTHERS = /^(api|v\d\w*)(\/|$)/;

/** After all other routes below `/console`. */
export const PAGE_ROUTES: readonly AnsweredRoute[] = ['/console', '/console/', '/console/:path{.+}'].map((path) =>
  route('GET', path, {
    gate: 'open',
    summary: 'The pages of the console.',
    reading: { shown: path, read: (found) => (OTHERS.test(found.path ?? '') ? undefined : found) },
    answer: ({ pages }, request) => {
      const name = request.path.path ?? '';
      if (!pages) throw new GatewayError('not_found', 'This program has no pages of the console.');
      return pages.answer(name, request.headers);
    },
  }),
);
