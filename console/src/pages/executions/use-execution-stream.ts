import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect, useMemo, useState } from 'react';
import { get, type Page, type Query } from '../../api.ts';
import type { Execution } from '../../api-types.ts';
import { hasEnded, listQuery, useList } from '../../queries.ts';

/** Refetch interval for the newest executions while the page is visible. */
const REFETCH_MS = 5_000;
/** Number of new executions per request. */
const MOST_NEW = 100;

/** Allowed clock difference between browser and service, if the service's time is unknown. */
const CLOCK_SLACK_MS = 300_000;

const NONE: readonly Execution[] = [];

const later = (a: string | undefined, b: string) => (a !== undefined && a > b ? a : b);

/**
 * A live list of executions: new ones appear at the top unless the user has scrolled down; then they are counted. Unfinished ones are
 * updated in place. A list in another order than newest first does not change.
 * @param isReading whether rows must stay where they are
 */
export function useExecutionStream(filter: Query, sort: string | undefined, isReading: boolean) {
  const client = useQueryClient();
  const query = useMemo(() => (sort === undefined ? filter : { ...filter, sort }), [filter, sort]);
  const list = useList<Execution>('/executions', query);
  const [begun] = useState(() => new Date(Date.now() - CLOCK_SLACK_MS).toISOString());
  const name = JSON.stringify(query);
  const [kept, setKept] = useState<{ name: string; rows: readonly Execution[] }>({ name, rows: [] });
  const entered = kept.name === name ? kept.rows : NONE;
  const base = list.data;
  const known = useMemo(() => [...entered, ...(base ?? [])], [entered, base]);
  const unfinished = known.findLast(({ status }) => !hasEnded(status));
  const since = (unfinished ?? known[0])?.created_at ?? begun;
  const until = query['until'];
  const isPast = typeof until === 'string' && until < begun;
  const { data: newest } = useQuery({
    queryKey: ['executions', 'newest', query, since],
    queryFn: ({ signal }) =>
      get<Page<Execution>>(
        '/executions',
        { ...query, limit: MOST_NEW, since: later(query['since'] as string | undefined, since) },
        signal,
      ),
    refetchInterval: REFETCH_MS,
    enabled: base !== undefined && !isPast && sort === undefined,
  });
  const rows = useMemo(() => {
    const current = new Map(newest?.data.map((row) => [row.id, row]));
    return known.map((row) => current.get(row.id) ?? row);
  }, [known, newest]);
  const fresh = useMemo(() => {
    if (base === undefined) return NONE;
    const ids = new Set(known.map(({ id }) => id));
    return (newest?.data ?? []).filter(({ id }) => !ids.has(id));
  }, [base, known, newest]);
  const isTooMany = fresh.length === MOST_NEW;
  const enter = () => {
    if (isTooMany) {
      setKept({ name, rows: [] });
      void client.resetQueries({ queryKey: listQuery('/executions', query).queryKey });
    } else setKept({ name, rows: [...fresh, ...entered] });
  };
  useEffect(() => {
    if (fresh.length > 0 && !isReading) enter();
  });
  return {
    ...list,
    data: base === undefined ? undefined : rows,
    /** How many are not in the list yet. */
    waiting: isReading ? fresh.length : 0,
    /** Whether there are more than counted. */
    isTooMany,
    enter,
  };
}
