import { useEffect } from 'react';
import { pathOf } from '../../api.ts';
import { recordQuery, useList } from '../../queries.ts';
import type { Candidate, Improvement } from './types.ts';

/** The most candidates that an improvement can have, with its base. */
const MOST_CANDIDATES = 201;

export const isUnfinished = ({ status }: Pick<Improvement, 'status'>) => status === 'running' || status === 'paused';

export const improvementQuery = (id: string) => recordQuery<Improvement>('improvements', id);

/** All candidates of an improvement, page after page. */
export function useCandidates(id: string) {
  const list = useList<Candidate>(`${pathOf('improvements', id)}/candidates`, { limit: MOST_CANDIDATES });
  const { error, loadMore } = list;
  useEffect(() => {
    if (error === null) loadMore();
  }, [error, loadMore]);
  return list;
}
