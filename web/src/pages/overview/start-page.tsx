/** `/console/`: the overview for operators, the home of their account for members. */
import { lazy, Suspense } from 'react';
import { isMember, useSession } from '../../api/session.ts';
import { OverviewPage } from './overview.tsx';

const HomePage = lazy(() => import('../home/home.tsx').then(({ HomePage }) => ({ default: HomePage })));

export function StartPage() {
  if (!isMember(useSession())) return <OverviewPage />;
  return (
    <Suspense fallback={null}>
      <HomePage />
    </Suspense>
  );
}
