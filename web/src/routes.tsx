/** The pages and their addresses. Each page is a chunk of its own. */
import { createRootRoute, createRoute, createRouter, lazyRouteComponent } from '@tanstack/react-router';
import { send } from './api/client.ts';
import { CALL_FILTERS, LIST_FILTERS, readSearch, type Search } from './parts/filters.ts';
import { PageFailed } from './shell/page-failed.tsx';
import { Shell } from './shell/shell.tsx';

/** A page whose code did not arrive: TanStack loads the document again, which helps after an upgrade of the gateway. Where nobody answers, it would lose it. */
async function onLost(reason: unknown): Promise<never> {
  await send('/console/', { method: 'HEAD' });
  throw reason;
}

// biome-ignore lint/suspicious/noExplicitAny: as TanStack declares it
const page = <Module extends Record<string, any>, Name extends keyof Module>(load: () => Promise<Module>, name: Name) =>
  lazyRouteComponent(() => load().catch(onLost), name);

const root = createRootRoute({
  component: Shell,
  notFoundComponent: page(() => import('./shell/not-found.tsx'), 'NotFound'),
  errorComponent: PageFailed,
});

const under = { getParentRoute: () => root };
const list = {
  ...under,
  validateSearch: (given: Record<string, unknown>) => readSearch(LIST_FILTERS, given),
};

const routes = [
  createRoute({
    ...list,
    path: '/',
    component: page(() => import('./pages/overview/start-page.tsx'), 'StartPage'),
  }),
  createRoute({
    ...under,
    path: '/calls',
    validateSearch: (given: Record<string, unknown>) => readSearch([...CALL_FILTERS, 'after', 'call'], given),
    component: page(() => import('./pages/calls/calls.tsx'), 'CallsPage'),
  }),
  createRoute({
    ...list,
    path: '/keys',
    component: page(() => import('./pages/keys/keys.tsx'), 'KeysPage'),
  }),
  createRoute({
    ...list,
    path: '/accounts',
    component: page(() => import('./pages/accounts/accounts.tsx'), 'AccountsPage'),
  }),
  createRoute({
    ...list,
    path: '/providers',
    component: page(() => import('./pages/providers/providers.tsx'), 'ProvidersPage'),
  }),
  createRoute({
    ...under,
    path: '/providers/add',
    validateSearch: (given: Record<string, unknown>) => readSearch(['provider'], given),
    component: page(() => import('./pages/providers/add.tsx'), 'AddProviderPage'),
  }),
  createRoute({
    ...list,
    path: '/playground',
    component: page(() => import('./pages/playground/playground.tsx'), 'PlaygroundPage'),
  }),
  createRoute({
    ...under,
    path: '/profile',
    component: page(() => import('./pages/profile/profile.tsx'), 'ProfilePage'),
  }),
  createRoute({
    ...list,
    path: '/models',
    component: page(() => import('./pages/models/models.tsx'), 'ModelsPage'),
  }),
  createRoute({
    ...list,
    path: '/codes',
    component: page(() => import('./pages/codes/codes.tsx'), 'CodesPage'),
  }),
  createRoute({
    ...list,
    path: '/ledger',
    component: page(() => import('./pages/ledger/ledger.tsx'), 'LedgerPage'),
  }),
  createRoute({
    ...list,
    path: '/limits',
    component: page(() => import('./pages/limits/limits.tsx'), 'LimitsPage'),
  }),
  createRoute({
    ...list,
    path: '/tasks',
    component: page(() => import('./pages/tasks/tasks.tsx'), 'TasksPage'),
  }),
  createRoute({
    ...list,
    path: '/people',
    component: page(() => import('./pages/people/people.tsx'), 'PeoplePage'),
  }),
  createRoute({
    ...list,
    path: '/alerts',
    component: page(() => import('./pages/alerts/alerts.tsx'), 'AlertsPage'),
  }),
  createRoute({
    ...list,
    path: '/audit',
    component: page(() => import('./pages/audit/audit.tsx'), 'AuditPage'),
  }),
  createRoute({
    ...list,
    path: '/settings',
    component: page(() => import('./pages/settings/settings.tsx'), 'SettingsPage'),
  }),
  createRoute({
    ...list,
    path: '/usage',
    component: page(() => import('./pages/usage/usage.tsx'), 'UsagePage'),
  }),
  createRoute({
    ...list,
    path: '/reference',
    component: page(() => import('./pages/reference/reference.tsx'), 'ReferencePage'),
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
    // Of each page: around the root alone, the menu would be gone as well.
    defaultErrorComponent: PageFailed,
    scrollRestoration: true,
  });
}

declare module '@tanstack/react-router' {
  interface Register {
    router: ReturnType<typeof createConsoleRouter>;
  }
}
