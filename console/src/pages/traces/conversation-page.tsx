import { useInfiniteQuery } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import { get, type Page, pathOf } from '../../api.ts';
import type { Conversation, Trace } from '../../api-types.ts';
import { StatusBadge } from '../../components/badges.tsx';
import { Button } from '../../components/button.tsx';
import { DeleteButton } from '../../components/delete-button.tsx';
import { Fact } from '../../components/fact.tsx';
import { OutputView } from '../../components/output-view.tsx';
import { RecordPage } from '../../components/record-page.tsx';
import { formatCost, formatMs, formatNumber, formatTime, plural } from '../../format.ts';
import { useMay } from '../../shell/session.ts';
import { conversationRoute } from './routes.ts';
import { titleOf } from './trace-title.ts';
import './traces.css';

const TURNS = 50;
const REFETCH_MS = 5_000;
/** The maximum length of a text in a trace record. */
const HEAD_CHARACTERS = 2_000;

type WholeConversation = Conversation & Page<Trace>;

/** A conversation as a chat: each trace is a turn, the oldest first. */
export function ConversationPage() {
  const { _splat: id = '' } = conversationRoute.useParams();
  const query = useInfiniteQuery({
    queryKey: ['conversations', 'one', id],
    queryFn: ({ pageParam, signal }) =>
      get<WholeConversation>(pathOf('conversations', id), { limit: TURNS, cursor: pageParam }, signal),
    initialPageParam: '',
    getNextPageParam: (last) => last.next_cursor ?? undefined,
    // Users who read later pages are not interrupted.
    refetchInterval: ({ state }) => (state.data?.pages.length === 1 ? REFETCH_MS : false),
  });
  const navigate = useNavigate();
  const mayWrite = useMay('write');
  const { data, error, refetch, hasNextPage, isFetching, isFetchNextPageError, fetchNextPage } = query;
  const pages = data?.pages.length ?? 0;
  const [wanted, setWanted] = useState(0);
  const isWanted = wanted > pages && hasNextPage && !isFetchNextPageError;
  // A refetch cancels the request for the next page, which is then made again.
  useEffect(() => {
    if (isWanted && !isFetching) void fetchNextPage();
  }, [isWanted, isFetching, fetchNextPage]);
  return (
    <RecordPage
      title={id}
      list={{ to: '/traces', label: 'Traces', back: 'Back to traces' }}
      actions={
        data &&
        mayWrite && (
          <DeleteButton
            resource="conversations"
            id={id}
            title="Delete this conversation?"
            description="This deletes all its traces with their steps and the executions recorded from them. Their tokens and cost still count in the usage."
            done="The conversation was deleted."
            onDeleted={() => navigate({ to: '/traces' })}
          />
        )
      }
      missing="There is no such conversation"
      query={{ data: data?.pages, error, refetch }}
      what="the conversation"
    >
      {([first, ...others]) =>
        first && (
          <>
            <ConversationFacts conversation={first} />
            <ol className="chat" aria-label="Turns">
              {[first, ...others]
                .flatMap((page) => page.data)
                .map((trace, index) => (
                  <Turn key={trace.id} trace={trace} number={index + 1} />
                ))}
            </ol>
            {hasNextPage && (
              <div className="row">
                <Button
                  disabled={isWanted}
                  onClick={() => (isFetchNextPageError ? void fetchNextPage() : setWanted(pages + 1))}
                >
                  Show later turns
                </Button>
              </div>
            )}
          </>
        )
      }
    </RecordPage>
  );
}

function ConversationFacts({ conversation }: { conversation: Conversation }) {
  const { id, traces, started_at, last_at, user_id, calls, errors, tokens, cost } = conversation;
  return (
    <dl className="facts">
      <Fact label="Traces">
        <Link to="/traces" search={{ conversation_id: id }}>
          {formatNumber(traces)}
        </Link>
        {errors > 0 && <span className="execution-error">, {plural(errors, 'step failed', 'steps failed')}</span>}
      </Fact>
      <Fact label="Started">{formatTime(started_at)}</Fact>
      <Fact label="Last activity">{formatTime(last_at)}</Fact>
      {user_id !== null && (
        <Fact label="User">
          <Link to="/traces" search={{ user_id }}>
            {user_id}
          </Link>
        </Fact>
      )}
      <Fact label="Model calls">{formatNumber(calls)}</Fact>
      <Fact label="Tokens">
        {formatNumber(tokens.input)} in, {formatNumber(tokens.output)} out
      </Fact>
      <Fact label="Cost">{formatCost(cost)}</Fact>
    </dl>
  );
}

/** The input and output of a trace, with a link to it. */
function Turn({ trace, number }: { trace: Trace; number: number }) {
  const { id, input, output, status, errors } = trace;
  const isCut = [input, output].some((text) => (text?.length ?? 0) >= HEAD_CHARACTERS);
  return (
    <li className="chat-turn">
      {input !== null && (
        <div className="chat-text user">
          <h2 className="visually-hidden">User</h2>
          <OutputView text={input} label={`user, turn ${number}`} />
        </div>
      )}
      {output === null ? (
        <p className="chat-text muted">{status === 'running' ? 'No response yet.' : 'No response was recorded.'}</p>
      ) : (
        <div className="chat-text">
          <h2 className="visually-hidden">Response</h2>
          <OutputView text={output} label={`response, turn ${number}`} />
        </div>
      )}
      <p className="row chat-meta muted">
        {(status !== 'ok' || errors > 0) && <StatusBadge status={status} />}
        <Link to="/traces/$id" params={{ id }}>
          {titleOf(trace)}
        </Link>
        <span>
          {formatTime(trace.started_at)}, {formatMs(trace.duration_ms)}, {formatCost(trace.cost)}
        </span>
        {errors > 0 && <span className="execution-error">{plural(errors, 'step failed', 'steps failed')}</span>}
        {isCut && <span>Long texts are cut here; the trace has all of them.</span>}
      </p>
    </li>
  );
}
