/** The pages and their addresses. Each page is a chunk of its own. */
import { createRootRoute, createRoute, createRouter, lazyRouteComponent } from '@tanstack/react-router';
import { readSearch, type Search } from './parts/filters.ts';
import { NotFound, PageFailed } from './shell/not-found.tsx';
import { Shell } from './shell/shell.tsx';

const root = createRootRoute({ component: Shell, notFoundComponent: NotFound, errorComponent: PageFailed });

/** Filters of the lists; `after` is the page, `call` and `open` the row in the drawer. */
const CALL_FILTERS = [
  'period',
  'account',
  'key',
  'model',
  'provider',
  'status',
  'outcome',
  'error',
  'tag',
  'cost_above',
  'after',
  'call',
] as const;
const LIST_FILTERS = [
  'account',
  'status',
  'after',
  'open',
  'subject',
  'actor',
  'action',
  'period',
  'tab',
  'model',
  'kind',
  'key',
] as const;

const searchOf = (given: Record<string, unknown>) => readSearch(LIST_FILTERS, given);

const under = () => root;
const routes = [
  createRoute({
    getParentRoute: under,
    path: '/',
    validateSearch: searchOf,
    component: lazyRouteComponent(() => import('./pages/overview/start-page.tsx'), 'StartPage'),
  }),
  createRoute({
    getParentRoute: under,
    path: '/calls',
    validateSearch: (given: Record<string, unknown>) => readSearch(CALL_FILTERS, given),
    component: lazyRouteComponent(() => import('./pages/calls/calls.tsx'), 'CallsPage'),
  }),
  createRoute({
    getParentRoute: under,
    path: '/keys',
    validateSearch: searchOf,
    component: lazyRouteComponent(() => import('./pages/keys/keys.tsx'), 'KeysPage'),
  }),
  createRoute({
    getParentRoute: under,
    path: '/accounts',
    validateSearch: searchOf,
    component: lazyRouteComponent(() => import('./pages/accounts/accounts.tsx'), 'AccountsPage'),
  }),
  createRoute({
    getParentRoute: under,
    path: '/providers',
    validateSearch: searchOf,
    component: lazyRouteComponent(() => import('./pages/providers/providers.tsx'), 'ProvidersPage'),
  }),
  createRoute({
    getParentRoute: under,
    path: '/providers/add',
    component: lazyRouteComponent(() => import('./pages/providers/add.tsx'), 'AddProviderPage'),
  }),
  createRoute({
    getParentRoute: under,
    path: '/playground',
    validateSearch: searchOf,
    component: lazyRouteComponent(() => import('./pages/playground/playground.tsx'), 'PlaygroundPage'),
  }),
  createRoute({
    getParentRoute: under,
    path: '/profile',
    component: lazyRouteComponent(() => import('./pages/profile/profile.tsx'), 'ProfilePage'),
  }),
  createRoute({
    getParentRoute: under,
    path: '/models',
    validateSearch: searchOf,
    component: lazyRouteComponent(() => import('./pages/models/models.tsx'), 'ModelsPage'),
  }),
  createRoute({
    getParentRoute: under,
    path: '/codes',
    validateSearch: searchOf,
    component: lazyRouteComponent(() => import('./pages/codes/codes.tsx'), 'CodesPage'),
  }),
  createRoute({
    getParentRoute: under,
    path: '/ledger',
    validateSearch: searchOf,
    component: lazyRouteComponent(() => import('./pages/ledger/ledger.tsx'), 'LedgerPage'),
  }),
  createRoute({
    getParentRoute: under,
    path: '/limits',
    validateSearch: searchOf,
    component: lazyRouteComponent(() => import('./pages/limits/limits.tsx'), 'LimitsPage'),
  }),
  createRoute({
    getParentRoute: under,
    path: '/tasks',
    validateSearch: searchOf,
    component: lazyRouteComponent(() => import('./pages/tasks/tasks.tsx'), 'TasksPage'),
  }),
  createRoute({
    getParentRoute: under,
    path: '/people',
    validateSearch: searchOf,
    component: lazyRouteComponent(() => import('./pages/people/people.tsx'), 'PeoplePage'),
  }),
  createRoute({
    getParentRoute: under,
    path: '/alerts',
    validateSearch: searchOf,
    component: lazyRouteComponent(() => import('./pages/alerts/alerts.tsx'), 'AlertsPage'),
  }),
  createRoute({
    getParentRoute: under,
    path: '/audit',
    validateSearch: searchOf,
    component: lazyRouteComponent(() => import('./pages/audit/audit.tsx'), 'AuditPage'),
  }),
  createRoute({
    getParentRoute: under,
    path: '/settings',
    validateSearch: searchOf,
    component: lazyRouteComponent(() => import('./pages/settings/settings.tsx'), 'SettingsPage'),
  }),
  createRoute({
    getParentRoute: under,
    path: '/usage',
    validateSearch: searchOf,
    component: lazyRouteComponent(() => import('./pages/usage/usage.tsx'), 'UsagePage'),
  }),
  createRoute({
    getParentRoute: under,
    path: '/reference',
    validateSearch: searchOf,
    component: lazyRouteComponent(() => import('./pages/reference/reference.tsx'), 'ReferencePage'),
  }),
] as const;

export function createConsoleRouter() {
  return createRouter({
    routeTree: root.addChildren(routes),
    basepath: '/console',
    // Plain text, so that an address can be read and typed: the default writes JSON.
    parseSearch: (text) => Object.fromEntries(new URLSearchParams(text)),
    stringifySearch: (search) => {
      const given = Object.entries(search as Search).filter((pair): pair is [string, string] => pair[1] !== undefined);
      const text = new URLSearchParams(given).toString();
      return text === '' ? '' : `?${text}`;
    },
    defaultPreload: 'intent',
    scrollRestoration: true,
  });
}

declare module '@tanstack/react-router' {
  interface Register {
    router: ReturnType<typeof createConsoleRouter>;
  }
}
