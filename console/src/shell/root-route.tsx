import type { QueryClient } from '@tanstack/react-query';
import { createRootRouteWithContext, Link, Outlet } from '@tanstack/react-router';
import { ErrorState } from '../components/states.tsx';
import { ConnectionBanner } from './connection-banner.tsx';

export const rootRoute = createRootRouteWithContext<{ queryClient: QueryClient }>()({
  component: () => (
    <>
      <ConnectionBanner />
      <Outlet />
    </>
  ),
  notFoundComponent: () => (
    <main className="page">
      <h1>There is no such page</h1>
      <p>
        <Link to="/prompts">Back to prompts</Link>
      </p>
    </main>
  ),
  errorComponent: ({ error, reset }) => (
    <main className="page">
      <h1>Something went wrong on this page</h1>
      <ErrorState error={error} onRetry={reset} />
    </main>
  ),
});
