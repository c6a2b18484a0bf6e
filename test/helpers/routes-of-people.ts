/** What the tests of sessions ask for: every route that people may use, and headers of pages of other origins. */
import { ANSWERED_ROUTES, CONSOLE_ROUTES } from '../../src/http/routes.ts';

/** With values for the parameters of the path. */
export const ROUTES_OF_PEOPLE = [...ANSWERED_ROUTES, ...CONSOLE_ROUTES]
  .filter(({ gate }) => gate === 'admin' || gate === 'session')
  .map((row) => ({ ...row, asked: row.path.replace(/:\w+(\{[^}]*\})?/g, 'none') }));

/** Whether a request by this method has a body. */
export const hasBody = (method: string): boolean => method !== 'GET' && method !== 'DELETE';

/** As a browser marks requests of the console's own page. */
export const OWN_ORIGIN = { 'sec-fetch-site': 'same-origin' };

export const FOREIGN_ORIGINS: { readonly [what: string]: { [name: string]: string } } = {
  'another site': { 'sec-fetch-site': 'cross-site', origin: 'https://evil.test' },
  'another port of this host': { 'sec-fetch-site': 'same-site', origin: 'http://127.0.0.1:1' },
  'an old browser': { origin: 'https://evil.test' },
  'a page without an origin': { origin: 'null' },
  unknown: {},
  'a false header': { 'sec-fetch-site': 'same-origin', origin: 'https://evil.test' },
};
