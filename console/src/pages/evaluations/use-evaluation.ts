import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { ApiError, pathOf, readEvents, send } from '../../api.ts';
import type { Evaluation } from '../../api-types.ts';
import { replaceData } from '../../queries.ts';
import { evaluationKey, evaluationQuery, hasEnded } from './queries.ts';

const POLL_MS = 2_000;
const REOPEN_MS = 5_000;

/** An evaluation with live updates: from its event stream, or by polling while there is no stream. */
export function useEvaluation(id: string) {
  const client = useQueryClient();
  const [streams, setStreams] = useState(false);
  const query = useQuery({
    ...evaluationQuery(id),
    refetchInterval: ({ state }) => (state.data && !hasEnded(state.data) && !streams ? POLL_MS : false),
  });
  const isRunning = query.data !== undefined && !hasEnded(query.data);
  useEffect(() => {
    if (!isRunning) return;
    const closing = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    const open = async () => {
      try {
        const response = await send('GET', `${pathOf('evaluations', id)}/stream`, {
          headers: { Accept: 'text/event-stream' },
          signal: closing.signal,
        });
        setStreams(true);
        await readEvents(response, ({ data }) => {
          replaceData(client, evaluationKey(id), (data as { evaluation: Evaluation }).evaluation);
        });
      } catch (error) {
        if (closing.signal.aborted) return;
        // Deleted in the meantime: requesting the evaluation reports it.
        if (error instanceof ApiError && error.status === 404) return setStreams(false);
      }
      if (closing.signal.aborted) return;
      setStreams(false);
      timer = setTimeout(() => void open(), REOPEN_MS);
    };
    void open();
    return () => {
      closing.abort();
      clearTimeout(timer);
      setStreams(false);
    };
  }, [id, isRunning, client]);
  return query;
}
