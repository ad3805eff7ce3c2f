import { Link, type LinkProps } from '@tanstack/react-router';
import type { ComponentProps, ReactNode } from 'react';
import { isNotFound } from '../queries.ts';
import { PageHead } from './page.tsx';
import { EmptyState, QueryState } from './states.tsx';

/** The page of one thing: its head, and what there is of it, or that it is being read, or that there is no such thing. */
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
    /** The list that it is in: the first crumb. */
    list: { to: NonNullable<LinkProps['to']>; label: string; back: string };
    /** Where its title is another one. */
    id?: string;
    /** What is said where there is none. */
    missing: string;
    /** Between its head and what there is of it. */
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
          {tabs}
          <QueryState query={query} what={what}>
            {children}
          </QueryState>
        </>
      )}
    </>
  );
}
