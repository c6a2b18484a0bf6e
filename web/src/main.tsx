/** The entry: who is here decides between the sign-in page, the first-run page and the console. */
import { QueryClient, QueryClientProvider, useQuery } from '@tanstack/react-query';
import { lazy, StrictMode, Suspense, useEffect, useState } from 'react';
import { createRoot } from 'react-dom/client';
import { ApiError, OfflineError } from './api/client.ts';
import { fetchSession, SESSION, type Session } from './api/session.ts';
import { startAppearance, takeLanguage } from './i18n/language.ts';
import { Boundary } from './parts/boundary.tsx';
import { Bones, Failed } from './parts/states.tsx';
import { takeFragment } from './shell/fragment.ts';
// Nearly every page uses these: chunks of their own are larger than the same lines here.
import './api/queries.ts';
import './format/money.ts';
import './pages/overview/sums.ts';
import './pages/providers/health.ts';
import './parts/table.tsx';

const SignInPage = lazy(() =>
  import('./pages/sign-in/sign-in.tsx').then(({ SignInPage }) => ({ default: SignInPage })),
);
const RoutedPages = lazy(() => import('./routed-pages.tsx').then(({ RoutedPages }) => ({ default: RoutedPages })));
const StartPage = lazy(() => import('./pages/start/start.tsx').then(({ StartPage }) => ({ default: StartPage })));

const RETRIES = 2;

const client = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 5_000,
      // An answer of the gateway does not change by asking again; a lost connection may. Nobody waits thirty seconds three times.
      retry: (failures, error) =>
        failures < RETRIES &&
        (error instanceof OfflineError ? !error.isLate : !(error instanceof ApiError) || error.status >= 500),
      networkMode: 'always',
    },
    mutations: { networkMode: 'always' },
  },
});

const isSession = ({ queryKey }: { queryKey: readonly unknown[] }) => queryKey[0] === SESSION[0];
let who: string | undefined;

client.getQueryCache().subscribe(({ type, query }) => {
  if (type !== 'updated') return;
  const { data, error } = query.state;
  if (!isSession(query)) {
    // A session that ended elsewhere shows the sign-in page, wherever the person is.
    if (error instanceof ApiError && error.status === 401) void client.invalidateQueries({ queryKey: SESSION });
    return;
  }
  const now = (data as Session | undefined)?.person?.id;
  if (now === who) return;
  // Somebody else has signed in, perhaps in another tab: nothing stays of what the person before has read.
  who = now;
  client.removeQueries({ predicate: (other) => !isSession(other) });
});

// The page as it was left, from the browser's memory: it may be of somebody who has signed out since.
window.addEventListener('pageshow', ({ persisted }) => persisted && location.reload());

function Console() {
  const [fragment, setFragment] = useState(takeFragment);
  const [isLater, setLater] = useState(false);
  const enter = async () => {
    await client.refetchQueries({ queryKey: SESSION });
    setFragment({});
  };
  // All tabs have one cookie: whoever comes back to this one sees who is signed in now.
  const session = useQuery({
    ...{ queryKey: SESSION, queryFn: fetchSession, staleTime: 60_000 },
    refetchOnWindowFocus: 'always',
  });
  const language = session.data?.person?.language ?? null;
  useEffect(() => takeLanguage(language), [language]);
  if (!session.data)
    return session.error ? <Alone error={session.error} retry={() => void session.refetch()} /> : <Waiting />;
  const { person } = session.data;
  // A one-time link wins over a session that is still there.
  if (!person || fragment.link || fragment.register) {
    return <SignInPage ways={session.data.ways} fragment={fragment} onDone={enter} />;
  }
  // Where neither passwords nor passkeys are on, there is nothing to set up.
  const canSetUp = session.data.ways.password || session.data.ways.passkeys;
  // Deep links work before that: only the start of the console asks.
  const isStart = /^\/console\/?$/.test(location.pathname);
  if (person.needsSetup && canSetUp && isStart && !isLater) return <StartPage onLater={() => setLater(true)} />;
  return <RoutedPages key={person.id} />;
}

/** A page without anything around it. */
function Alone({ error, retry }: { error: unknown; retry: () => void }) {
  return (
    <main className="page" id="main">
      <h1 className="off">Modelport</h1>
      <Failed error={error} retry={retry} />
    </main>
  );
}

function Waiting() {
  return (
    <div className="page">
      <Bones rows={8} />
    </div>
  );
}

startAppearance();
const root = document.getElementById('root');
if (root) {
  createRoot(root).render(
    <StrictMode>
      <QueryClientProvider client={client}>
        <Boundary fallback={(error) => <Alone error={error} retry={() => location.reload()} />}>
          <Suspense fallback={<Waiting />}>
            <Console />
          </Suspense>
        </Boundary>
      </QueryClientProvider>
    </StrictMode>,
  );
}
