import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { get, type Page, pathOf } from '../../api.ts';
import type { Delivery, Execution } from '../../api-types.ts';
import { StatusBadge } from '../../components/badges.tsx';
import { Section } from '../../components/section.tsx';
import { formatCost, formatMs, formatTime, plural } from '../../format.ts';
import { hasEnded } from '../../queries.ts';
import { t } from '../../strings.ts';
import './run-timeline.css';

/** Shorter waits are only the time to store a row, and of no interest. */
const SHORTEST_WAIT_MS = 20;
/** Deliveries are made after the end. */
const REFETCH_MS = 5_000;

type Call = Execution['calls'][number];

/** A part of a run; times in milliseconds from its creation. `end` is undefined if it is in progress or unknown. */
interface Part {
  key: string;
  kind: 'wait' | 'call' | 'failed';
  title: string;
  begin: number;
  end: number | undefined;
  call?: Call;
}

/** Why a call was made. */
function reasonOf(call: Call, before: Call | undefined): string {
  if (before === undefined) return '';
  return before.model === call.model ? t(' (again)') : t(' (replacement)');
}

function partsOf({ calls, created_at, latency }: Execution): Part[] {
  const start = Date.parse(created_at);
  const parts: Part[] = [];
  let free: number | undefined = 0;
  for (const [index, call] of calls.entries()) {
    const begin = Math.max(0, Date.parse(call.started_at) - start);
    const before = calls[index - 1];
    if (index === 0 || (free !== undefined && begin - free >= SHORTEST_WAIT_MS))
      parts.push({
        key: `wait ${index}`,
        kind: 'wait',
        title:
          index === 0
            ? 'Queued'
            : before?.model === call.model
              ? 'Waited before the next attempt'
              : 'Waited for the next model',
        begin: free ?? 0,
        end: begin,
      });
    const end = call.duration_ms === null ? undefined : begin + call.duration_ms;
    parts.push({
      key: `call ${index}`,
      kind: call.error ? 'failed' : 'call',
      title: `${index + 1}. ${call.model}${reasonOf(call, before)}`,
      begin,
      end,
      call,
    });
    free = end;
  }
  if (calls.length === 0 && latency.total_ms !== null)
    parts.push({ key: 'queued', kind: 'wait', title: 'Queued', begin: 0, end: latency.total_ms });
  return parts;
}

/** The timeline of a run: the queue, every call with retries and fallbacks, the waits between them, and webhook deliveries. */
export function RunTimeline({ execution }: { execution: Execution }) {
  const parts = execution.reused_from === null && !execution.recorded ? partsOf(execution) : [];
  const known = parts.flatMap(({ begin, end }) => end ?? begin);
  const total = Math.max(execution.latency.total_ms ?? 0, ...known, 1);
  const isOver = hasEnded(execution.status);
  return (
    <>
      {parts.length > 0 && (
        <Section id="timeline" title="Timeline">
          <div className="timeline">
            <div className="timeline-axis" aria-hidden="true">
              <span>0</span>
              <span>{formatMs(total / 2)}</span>
              <span>{formatMs(total)}</span>
            </div>
            <ol className="timeline-parts">
              {parts.map((part) => (
                <PartRow key={part.key} part={part} total={total} isOver={isOver} />
              ))}
            </ol>
          </div>
        </Section>
      )}
      {isOver && <Deliveries execution={execution} />}
    </>
  );
}

function PartRow({ part, total, isOver }: { part: Part; total: number; isOver: boolean }) {
  const { kind, title, begin, end, call } = part;
  const from = Math.min((begin / total) * 100, 99.5);
  const width = Math.min(Math.max((((end ?? total) - begin) / total) * 100, 0.5), 100 - from);
  const took = end === undefined ? (isOver ? t('end unknown') : t('no response yet')) : formatMs(end - begin);
  return (
    <li className="timeline-part">
      <span className="timeline-title">
        {kind === 'wait' ? title : <strong>{title}</strong>}
        <span className="muted">
          {' '}
          {took}
          {begin > 0 && ` after ${formatMs(begin)}`}
          {call?.tokens && `, ${plural(call.tokens.total, 'token', 'tokens')}`}
          {call && call.cost.amount !== null && `, ${formatCost(call.cost)}`}
        </span>
      </span>
      <span className="timeline-track" aria-hidden="true">
        <span
          className={`timeline-bar ${kind}${end === undefined ? ' open' : ''}`}
          style={{ marginInlineStart: `${from}%`, width: `${width}%` }}
        />
      </span>
      {call?.error && (
        <p className="field-error">
          {call.error.code}: {call.error.message}
        </p>
      )}
      {call?.skipped && <p className="muted">Unknown parts of the response, left out: {call.skipped.join(', ')}</p>}
      {call?.response !== undefined && (
        <details>
          <summary>The response that was not understood</summary>
          <pre className="code">{call.response}</pre>
        </details>
      )}
    </li>
  );
}

/** The webhook deliveries about the end. */
function Deliveries({ execution: { id, finished_at, recorded } }: { execution: Execution }) {
  const { data } = useQuery({
    queryKey: ['executions', 'deliveries', id],
    queryFn: ({ signal }) =>
      get<Pick<Page<Delivery>, 'data'>>(`${pathOf('executions', id)}/deliveries`, undefined, signal),
    refetchInterval: ({ state }) =>
      state.data?.data.some(({ status }) => status === 'queued' || status === 'waiting') ? REFETCH_MS : false,
    enabled: !recorded,
  });
  if (data === undefined || data.data.length === 0) return null;
  return (
    <Section id="deliveries" title="Webhooks">
      <ul className="timeline-parts">
        {data.data.map((delivery) => (
          <li key={delivery.id} className="row">
            <StatusBadge status={delivery.status} />
            <Link to="/webhooks/$id" params={{ id: delivery.webhook_id }}>
              {delivery.event}
            </Link>
            <span className="muted">
              {delivery.finished_at !== null && finished_at !== null
                ? `${formatMs(Date.parse(delivery.finished_at) - Date.parse(finished_at))} after the end`
                : delivery.next_attempt_at !== null
                  ? `next attempt ${formatTime(delivery.next_attempt_at)}`
                  : 'on its way'}
              , {plural(delivery.attempts_made, 'attempt', 'attempts')}
              {delivery.status_reason !== null && `: ${delivery.status_reason}`}
            </span>
          </li>
        ))}
      </ul>
    </Section>
  );
}
