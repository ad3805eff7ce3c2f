import { type SqlBool, sql } from 'kysely';
import type { StreamDeltaType } from '../../db/entities/stream-delta.ts';
import { CHANNELS } from '../../db/listener.ts';
import { notify, unnestOf } from '../../db/sql.ts';
import { inStates } from '../../db/state-change.ts';
import { prepared, type RowOf } from '../../db/statement.ts';
import { executionStates, UNFINISHED_EXECUTION } from '../../domain/execution-states.ts';

/** The start of an attempt is its first event. */
export const BEGINNING = 1;
/** The maximum number of rows that a poll reads for one reader. With the size of a row, it bounds the memory of a reader. */
export const ROWS_AT_ONCE = 50;
/** The maximum number of characters of text in a row. */
export const MAX_ROW_CHARS = 8_192;

/** Rows as columns. */
export interface WrittenDeltas {
  executions: string[];
  attempts: number[];
  sequences: number[];
  types: StreamDeltaType[];
  data: string[];
}

/** Writes rows and notifies stream readers; rows of an execution that is gone are ignored. Safe to repeat. */
export const WRITE_DELTAS = prepared<WrittenDeltas>()((db, { executions, attempts, sequences, types, data }) =>
  db
    .with('written', (cte) =>
      cte
        .insertInto('stream_deltas')
        .columns(['execution_id', 'attempt', 'sequence', 'workspace_id', 'type', 'data'])
        .expression(
          cte
            .selectFrom(
              unnestOf('given', {
                id: ['uuid', executions],
                attempt: ['integer', attempts],
                sequence: ['integer', sequences],
                type: ['text', types],
                data: ['text', data],
              }),
            )
            .innerJoin('executions as e', 'e.id', 'given.id')
            .select(['given.id', 'given.attempt', 'given.sequence', 'e.workspace_id'])
            .select([sql.ref<StreamDeltaType>('given.type').as('type'), 'given.data']),
        )
        .onConflict((conflict) => conflict.doNothing()),
    )
    .selectNoFrom(notify(CHANNELS.streamWritten, '').as('told')),
);

/** The positions up to which streams were read, as columns. */
interface Positions {
  executions: string[];
  attempts: number[];
  sequences: number[];
  /** Identifies each position. */
  indexes: number[];
}

/** The next rows after each position, in their order. */
export const NEXT_DELTAS = prepared<Positions>()((db, { executions, attempts, sequences, indexes }) =>
  db
    .selectFrom(
      unnestOf('seen', {
        id: ['uuid', executions],
        attempt: ['integer', attempts],
        sequence: ['integer', sequences],
        index: ['integer', indexes],
      }),
    )
    .innerJoinLateral(
      (eb) =>
        eb
          .selectFrom('stream_deltas as d')
          .select(['d.attempt', 'd.sequence', 'd.type', 'd.data'])
          .whereRef('d.execution_id', '=', 'seen.id')
          .where((delta) =>
            delta(delta.refTuple('d.attempt', 'd.sequence'), '>', delta.refTuple('seen.attempt', 'seen.sequence')),
          )
          .orderBy('d.attempt')
          .orderBy('d.sequence')
          .limit(ROWS_AT_ONCE)
          .as('next'),
      (join) => join.onTrue(),
    )
    .select(['seen.index', 'next.attempt', 'next.sequence', 'next.type', 'next.data'])
    .orderBy('seen.index')
    .orderBy('next.attempt')
    .orderBy('next.sequence'),
);
export type DeltaRow = Omit<RowOf<typeof NEXT_DELTAS>, 'index'>;

/** The last event of an attempt that has a row. Bound to a workspace. */
export const LAST_SEQUENCE = prepared<{ id: string; attempt: number }>()((db, { id, attempt }) =>
  db
    .selectFrom('stream_deltas')
    .select((eb) => eb.fn.max<number | null>('sequence').as('last'))
    .where('execution_id', '=', id)
    .where('attempt', '=', attempt),
);

/** The given executions that have not ended. */
export const UNFINISHED = prepared<{ ids: string[] }>()((db, { ids }) =>
  db
    .selectFrom('executions')
    .select('id')
    .where(sql<SqlBool>`id = any(${ids}::uuid[])`)
    .where(inStates(executionStates, UNFINISHED_EXECUTION)),
);
