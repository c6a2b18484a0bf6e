/** The pages and their addresses. Each page is a chunk of its own. */
import { createRootRoute, createRoute, createRouter, lazyRouteComponent } from '@tanstack/react-router';
import { CALL_FILTERS, LIST_FILTERS, readSearch, type Search } from './parts/filters.ts';
import { NotFound, PageFailed } from './shell/not-found.tsx';
import { Shell } from './shell/shell.tsx';

const root = createRootRoute({ component: Shell, notFoundComponent: NotFound, errorComponent: PageFailed });

const under = { getParentRoute: () => root };
const list = {
  ...under,
  validateSearch: (given: Record<string, unknown>) => readSearch(LIST_FILTERS, given),
};

const routes = [
  createRoute({
    ...list,
    path: '/',
    component: lazyRouteComponent(() => import('./pages/overview/start-page.tsx'), 'StartPage'),
  }),
  createRoute({
    ...under,
    path: '/calls',
    validateSearch: (given: Record<string, unknown>) => readSearch([...CALL_FILTERS, 'after', 'call'], given),
    component: lazyRouteComponent(() => import('./pages/calls/calls.tsx'), 'CallsPage'),
  }),
  createRoute({
    ...list,
    path: '/keys',
    component: lazyRouteComponent(() => import('./pages/keys/keys.tsx'), 'KeysPage'),
  }),
  createRoute({
    ...list,
    path: '/accounts',
    component: lazyRouteComponent(() => import('./pages/accounts/accounts.tsx'), 'AccountsPage'),
  }),
  createRoute({
    ...list,
    path: '/providers',
    component: lazyRouteComponent(() => import('./pages/providers/providers.tsx'), 'ProvidersPage'),
  }),
  createRoute({
    ...under,
    path: '/providers/add',
    validateSearch: (given: Record<string, unknown>) => readSearch(['provider'], given),
    component: lazyRouteComponent(() => import('./pages/providers/add.tsx'), 'AddProviderPage'),
  }),
  createRoute({
    ...list,
    path: '/playground',
    component: lazyRouteComponent(() => import('./pages/playground/playground.tsx'), 'PlaygroundPage'),
  }),
  createRoute({
    ...under,
    path: '/profile',
    component: lazyRouteComponent(() => import('./pages/profile/profile.tsx'), 'ProfilePage'),
  }),
  createRoute({
    ...list,
    path: '/models',
    component: lazyRouteComponent(() => import('./pages/models/models.tsx'), 'ModelsPage'),
  }),
  createRoute({
    ...list,
    path: '/codes',
    component: lazyRouteComponent(() => import('./pages/codes/codes.tsx'), 'CodesPage'),
  }),
  createRoute({
    ...list,
    path: '/ledger',
    component: lazyRouteComponent(() => import('./pages/ledger/ledger.tsx'), 'LedgerPage'),
  }),
  createRoute({
    ...list,
    path: '/limits',
    component: lazyRouteComponent(() => import('./pages/limits/limits.tsx'), 'LimitsPage'),
  }),
  createRoute({
    ...list,
    path: '/tasks',
    component: lazyRouteComponent(() => import('./pages/tasks/tasks.tsx'), 'TasksPage'),
  }),
  createRoute({
    ...list,
    path: '/people',
    component: lazyRouteComponent(() => import('./pages/people/people.tsx'), 'PeoplePage'),
  }),
  createRoute({
    ...list,
    path: '/alerts',
    component: lazyRouteComponent(() => import('./pages/alerts/alerts.tsx'), 'AlertsPage'),
  }),
  createRoute({
    ...list,
    path: '/audit',
    component: lazyRouteComponent(() => import('./pages/audit/audit.tsx'), 'AuditPage'),
  }),
  createRoute({
    ...list,
    path: '/settings',
    component: lazyRouteComponent(() => import('./pages/settings/settings.tsx'), 'SettingsPage'),
  }),
  createRoute({
    ...list,
    path: '/usage',
    component: lazyRouteComponent(() => import('./pages/usage/usage.tsx'), 'UsagePage'),
  }),
  createRoute({
    ...list,
    path: '/reference',
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
