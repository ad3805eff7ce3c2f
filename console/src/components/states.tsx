import { Link, type LinkOptions } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { ApiError } from '../api.ts';
import { Button } from './button.tsx';

export function Loading({ what = 'this' }: { what?: string }) {
  return (
    <p role="status" className="muted">
      Loading {what}…
    </p>
  );
}

/** What to do first, where there is nothing yet. @param all the address of everything, where filters leave nothing */
export function EmptyState({ title, all, children }: { title: string; all?: LinkOptions; children?: ReactNode }) {
  return (
    <div className="state">
      <h2>{title}</h2>
      {all && (
        <Link {...all} className="button">
          Show all
        </Link>
      )}
      {children}
    </div>
  );
}

/** What the API refused, field by field where it says so. */
export function ErrorState({ error, onRetry }: { error: unknown; onRetry?: () => void }) {
  const details = error instanceof ApiError ? error.details : [];
  return (
    <div role="alert" className="notice bad">
      {details.length === 0 && <p>{error instanceof Error ? error.message : String(error)}</p>}
      {details.length > 0 && (
        <ul>
          {details.map(({ path, message }) => (
            <li key={`${path} ${message}`}>
              {path !== '' && <code>{path}</code>} {message}
            </li>
          ))}
        </ul>
      )}
      {onRetry && (
        <Button look="small" onClick={onRetry}>
          Try again
        </Button>
      )}
    </div>
  );
}

/** The part of a page that needs a query: it is loading, it has failed, or it is there. */
export function QueryState<Data>({
  query,
  what,
  children,
}: {
  query: { data: Data | undefined; error: unknown; refetch: () => unknown };
  /** Completes "Loading …". */
  what?: string;
  children: (data: Data) => ReactNode;
}) {
  if (query.data !== undefined) return children(query.data);
  if (query.error) return <ErrorState error={query.error} onRetry={() => void query.refetch()} />;
  return what === undefined ? <Loading /> : <Loading what={what} />;
}
