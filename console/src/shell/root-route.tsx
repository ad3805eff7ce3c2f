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
      <p className="row">
        <Link to="/" className="button">
          Home
        </Link>
        <Link to="/prompts" className="button">
          Back to prompts
        </Link>
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
