import { Link, type LinkProps } from '@tanstack/react-router';
import type { ComponentProps, ReactNode } from 'react';
import { isNotFound } from '../queries.ts';
import { PageHead } from './page.tsx';
import { EmptyState, QueryState } from './states.tsx';

/** The page of one record: its heading and content, or that it is loading or does not exist. */
export function RecordPage<Data>({
  list: { to, label, back },
  crumbs,
  id,
  missing,
  tabs,
  query,
  what,
  children,
  ...head
}: ComponentProps<typeof PageHead> &
  Omit<ComponentProps<typeof QueryState<Data>>, 'what'> & {
    /** Completes "Loading …". */
    what: string;
    /** The list that contains it, for the first breadcrumb. */
    list: { to: NonNullable<LinkProps['to']>; label: string; back: string };
    /** If its title is something else. */
    id?: string;
    /** The message if it does not exist. */
    missing: string;
    /** Between the heading and the content. */
    tabs?: ReactNode;
  }) {
  const all = [
    <Link key="list" to={to}>
      {label}
    </Link>,
    crumbs,
    id === undefined ? null : (
      <span key="id" className="mono">
        {id}
      </span>
    ),
  ];
  return (
    <>
      <PageHead {...head} crumbs={all} />
      {isNotFound(query.error) ? (
        <EmptyState title={missing}>
          <Link to={to} className="button">
            {back}
          </Link>
        </EmptyState>
      ) : (
        <>
          {/* Not before the heading is complete, which would push them down. */}
          {query.data !== undefined && tabs}
          <QueryState query={query} what={what}>
            {children}
          </QueryState>
        </>
      )}
    </>
  );
}
