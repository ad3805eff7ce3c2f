import { useQueryClient } from '@tanstack/react-query';
import { useCallback, useEffect, useRef, useState } from 'react';
import { pathOf, post } from '../../api.ts';
import type { CompleteItem, QueueItem } from './types.ts';

/** A shorter lease is renewed while the user types. The service grants 15 minutes. */
const RENEW_BELOW_MS = 10 * 60_000;

export const leaseEndOf = (item: QueueItem): string | null =>
  item.reviews.find(({ state }) => state === 'leased')?.leased_until ?? null;

/** The items of a queue one by one, for the signed-in user. */
export function useReview(name: string) {
  /** Undefined while loading or after an error. Null if nothing is left. */
  const [item, setItem] = useState<QueueItem | null>();
  const [error, setError] = useState<unknown>();
  /** Items completed and skipped here, newest last. */
  const [done, setDone] = useState<readonly string[]>([]);
  const [busy, setBusy] = useState(false);
  const isBusy = useRef(false);
  const renewal = useRef<Promise<void>>(undefined);
  const client = useQueryClient();

  const act = useCallback(
    async (work: () => Promise<void>) => {
      if (isBusy.current) return;
      isBusy.current = true;
      setBusy(true);
      setError(undefined);
      try {
        await renewal.current;
        await work();
      } catch (thrown) {
        setError(thrown);
      } finally {
        isBusy.current = false;
        setBusy(false);
        void client.invalidateQueries({ queryKey: ['queues'] });
      }
    },
    [client],
  );
  const next = useCallback(
    async () => (await post<{ item: QueueItem | null }>(`${pathOf('queues', name)}/next`)).item,
    [name],
  );
  const pathTo = (id: string, action: string) => `${pathOf('queues', name, 'items', id)}/${action}`;
  const take = useCallback(() => act(async () => setItem(await next())), [act, next]);
  useEffect(() => void take(), [take]);

  const finish = (id: string, request: () => Promise<unknown>) =>
    act(async () => {
      await request();
      setDone((before) => [...before, id]);
      setItem(undefined);
      setItem(await next());
    });

  return {
    item,
    error,
    busy,
    take,
    canUndo: done.length > 0,
    complete: (id: string, body: CompleteItem) => finish(id, () => post(pathTo(id, 'complete'), body)),
    skip: (id: string) => finish(id, () => post(pathTo(id, 'skip'))),
    /** Undoes the last item, and shows it again. */
    undo: () =>
      act(async () => {
        const last = done.at(-1);
        if (last === undefined) return;
        // Otherwise the service would return this one again.
        if (item) await post(pathTo(item.id, 'back'));
        const returned = await post<QueueItem>(pathTo(last, 'back'));
        setDone((before) => before.slice(0, -1));
        const taken = await next();
        const isTaken = taken?.id === last;
        // It can be completed without a lease, too.
        if (taken !== null && !isTaken) await post(pathTo(taken.id, 'back'));
        // Last, because a key pressed as soon as it appears must count.
        setItem(isTaken ? taken : returned);
      }),
    /** Renews the lease of the item in progress. */
    renew: () => {
      const end = item && leaseEndOf(item);
      const left = end ? Date.parse(end) - Date.now() : 0;
      if (!item || left <= 0 || left > RENEW_BELOW_MS || isBusy.current || renewal.current !== undefined) return;
      renewal.current = next()
        .then((renewed) => {
          if (renewed?.id === item.id) setItem(renewed);
        })
        // The lease is unchanged: the page shows when it ends.
        .catch(() => undefined)
        .finally(() => {
          renewal.current = undefined;
        });
    },
  };
}
