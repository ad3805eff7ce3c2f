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

/** What to do first in an empty list. @param all the address of the full list, if filters match nothing */
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

/** An error of the API, with its fields if known. */
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

/** A part of a page that depends on a query: loading, failed, or loaded. */
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
