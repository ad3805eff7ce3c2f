import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect, useMemo, useState } from 'react';
import { get, type Page, type Query } from './api.ts';
import { listQuery, useList } from './queries.ts';

/** Refetch interval for the newest entries while the page is visible. */
const REFETCH_MS = 5_000;
/** Number of new entries per request. */
const MOST_NEW = 100;

/** Allowed clock difference between browser and service, if the service's time is unknown. */
const CLOCK_SLACK_MS = 300_000;

const NONE: readonly never[] = [];

const later = (a: string | undefined, b: string) => (a !== undefined && a > b ? a : b);
const earlier = (a: string | undefined, b: string) => (a !== undefined && a < b ? a : b);
const before = (time: string | number, ms: number) => new Date(new Date(time).getTime() - ms).toISOString();

/** A list of the API, newest first, that keeps getting new entries. It accepts `since` and `limit`. */
export interface Growing<Row> {
  path: string;
  timeOf: (row: Row) => string;
  /** Whether it no longer changes. */
  isOver: (row: Row) => boolean;
  /** How long after its time an entry can appear. */
  lateMs: number;
}

/**
 * A live list: new entries appear at the top unless the user has scrolled down; then they are counted. Unfinished ones are updated in place.
 * A list in another order than newest first does not change.
 * @param isReading whether rows must keep their position
 */
export function useGrowingList<Row extends { id: string }>(
  { path, timeOf, isOver, lateMs }: Growing<Row>,
  filter: Query,
  sort: string | undefined,
  isReading: boolean,
) {
  const client = useQueryClient();
  const query = useMemo(() => (sort === undefined ? filter : { ...filter, sort }), [filter, sort]);
  const list = useList<Row>(path, query);
  const [begun] = useState(() => before(Date.now(), CLOCK_SLACK_MS));
  const name = JSON.stringify(query);
  const [kept, setKept] = useState<{ name: string; rows: readonly Row[] }>({ name, rows: NONE });
  const entered = kept.name === name ? kept.rows : NONE;
  const base = list.data;
  const known = useMemo(() => {
    const ids = new Set(entered.map(({ id }) => id));
    const all = [...entered, ...(base ?? NONE).filter(({ id }) => !ids.has(id))];
    // A late entry is not the newest.
    return lateMs > 0 && sort === undefined ? all.sort((a, b) => timeOf(b).localeCompare(timeOf(a))) : all;
  }, [entered, base, lateMs, sort, timeOf]);
  const unfinished = known.findLast((row) => !isOver(row));
  const newestKnown = known[0] && before(timeOf(known[0]), lateMs);
  // Older entries are on later pages.
  const last = list.hasMore ? base?.at(-1) : undefined;
  const oldest = last && timeOf(last);
  const isAll = Object.values(query).every((value) => value === undefined);
  // The first entry of an empty list can have any time.
  const since =
    newestKnown === undefined ? (isAll ? undefined : begun) : earlier(unfinished && timeOf(unfinished), newestKnown);
  const until = query['until'];
  const isPast = typeof until === 'string' && until < begun;
  const { data: newest } = useQuery({
    queryKey: [path.split('/')[1], 'newest', query, since],
    queryFn: ({ signal }) =>
      get<Page<Row>>(
        path,
        { ...query, limit: MOST_NEW, since: since && later(query['since'] as string | undefined, since) },
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
    return (newest?.data ?? []).filter((row) => !ids.has(row.id) && (oldest === undefined || timeOf(row) > oldest));
  }, [base, known, newest, oldest, timeOf]);
  const isTooMany = fresh.length === MOST_NEW;
  const enter = () => {
    if (isTooMany) {
      setKept({ name, rows: NONE });
      void client.resetQueries({ queryKey: listQuery(path, query).queryKey });
    } else setKept({ name, rows: [...fresh, ...entered] });
  };
  useEffect(() => {
    if (fresh.length > 0 && !isReading) enter();
  });
  return {
    ...list,
    data: base === undefined ? undefined : rows,
    /** The number of entries that are not in the list yet. */
    waiting: isReading ? fresh.length : 0,
    /** Whether there are more than were counted. */
    isTooMany,
    enter,
  };
}
