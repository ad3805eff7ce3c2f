import { sql } from 'kysely';
import type { WorkspaceDatabase } from '../../db/database.ts';
import { prepared } from '../../db/statement.ts';
import type { ToolCall } from '../../domain/prompts/messages.ts';
import { canonicalJson } from '../../domain/text/canonical-json.ts';
import { type ExecutionRow, getExecution, toolCallsOf } from '../executions/executions.ts';
import { BEGINNING } from './deltas.ts';
import type { StreamEvent } from './stream-events.ts';
import type { Position } from './stream-position.ts';

/** What was streamed of the last call that has rows, and whether its text is the execution's. */
const STREAMED = prepared<{ id: string }>()((db, { id }) =>
  db
    .with('last', (cte) =>
      cte
        .selectFrom('stream_deltas')
        .select(['attempt', 'sequence', 'type', 'data'])
        .where('execution_id', '=', id)
        .where((eb) =>
          eb(
            'attempt',
            '=',
            eb
              .selectFrom('stream_deltas as d')
              .select((of) => of.fn.max('d.attempt').as('attempt'))
              .where('d.execution_id', '=', id),
          ),
        ),
    )
    .with('streamed', (cte) =>
      cte
        .selectFrom('last')
        .select((eb) => [
          eb.fn.max<number | null>('attempt').as('attempt'),
          eb.fn.max<number | null>('sequence').as('sequence'),
        ])
        .select([
          sql<string>`coalesce(string_agg(data, '' order by sequence) filter (where type = 'text'), '')`.as('text'),
          sql<ToolCall[]>`coalesce(json_agg(data::json order by sequence) filter (where type = 'tool_call'), '[]')`.as(
            'tool_calls',
          ),
        ]),
    )
    .selectFrom('executions as e')
    .crossJoin('streamed as s')
    .select(['s.attempt', 's.sequence'])
    .select('s.tool_calls as toolCalls')
    .select((eb) => eb(eb.fn.coalesce('e.output', eb.val('')), '=', eb.ref('s.text')).as('isText'))
    .where('e.id', '=', id),
);

/** How an execution ended, and which part of it is in rows. */
export interface StreamResult {
  execution: ExecutionRow;
  /** The last event that has a row; undefined if there are no rows, or no longer. */
  lastRow: { attempt: number; sequence: number } | undefined;
  /** Whether the rows of that attempt contain the whole response. */
  isWhole: boolean;
}

/** @throws ApiError `not_found` */
export async function readResult(db: WorkspaceDatabase, id: string): Promise<StreamResult> {
  const [execution, [streamed]] = await Promise.all([getExecution(db, id), db.query(STREAMED, { id })]);
  const { attempt = null, sequence = null, isText = false, toolCalls } = streamed ?? {};
  return {
    execution,
    lastRow: attempt === null || sequence === null ? undefined : { attempt, sequence },
    isWhole: isText === true && areSame(toolCalls ?? [], toolCallsOf(execution)),
  };
}

const areSame = (streamed: readonly ToolCall[], stored: readonly ToolCall[]): boolean =>
  canonicalJson([...streamed]) === canonicalJson([...stored]);

function endOf(execution: ExecutionRow): 'execution.completed' | 'execution.failed' | 'execution.canceled' {
  switch (execution.status) {
    case 'completed':
    case 'failed':
    case 'canceled':
      return `execution.${execution.status}`;
    default:
      throw new Error(`The execution ${execution.id} has not ended.`);
  }
}

/** The last events for a reader that has received all rows: the response of the execution, unless the rows contained it, and the end. */
export function lastEvents({ execution, lastRow, isWhole }: StreamResult, position: Position): StreamEvent[] {
  const toolCalls = toolCallsOf(execution);
  const hasResponse = (execution.output ?? '') !== '' || toolCalls.length > 0;
  const { attempt, sequence } = position;
  const hasRows = lastRow !== undefined && lastRow.attempt === attempt;
  const hasAll = isWhole && (lastRow === undefined || (hasRows && sequence >= lastRow.sequence));
  const type = endOf(execution);
  // Always the same id, even for a reader that already has it.
  if (!hasResponse || hasAll)
    return [{ type, id: { attempt, sequence: (hasRows ? lastRow.sequence : sequence) + 1 }, execution }];
  const events: StreamEvent[] = [];
  const lastAttempt = Math.max(attempt, execution.attempts);
  let last = BEGINNING;
  function nextId() {
    last += 1;
    return { attempt: lastAttempt, sequence: last };
  }
  if (sequence > BEGINNING)
    events.push({ type: 'execution.restarted', id: { attempt: lastAttempt, sequence: BEGINNING } });
  if (execution.output !== null && execution.output !== '')
    events.push({ type: 'output_text.delta', id: nextId(), delta: execution.output });
  for (const toolCall of toolCalls) events.push({ type: 'tool_call', id: nextId(), toolCall });
  events.push({ type, id: nextId(), execution });
  return events;
}
