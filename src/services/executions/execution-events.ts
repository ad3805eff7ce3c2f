import { type Expression, type QueryCreator, type SqlBool, sql } from 'kysely';
import { jsonBuildObject } from 'kysely/helpers/postgres';
import type { Parameters } from '../../db/statement.ts';
import type { Tables } from '../../db/tables.ts';
import type { ExecutionStatus } from '../../domain/execution-states.ts';
import { publicIdSql } from '../../domain/ids.ts';
import type { Pricing } from '../../domain/usage.ts';
import type { EventData, EventType } from '../../domain/webhooks/events.ts';
import { EVENT_COLUMNS, EVENT_NOTIFICATION, eventOf, type NewEvent } from '../events/write-event.ts';
import type { ExecutionRow } from './executions.ts';
import { FINISHED_NOTIFICATION } from './run/execution-finished.ts';

const column = <Name extends keyof ExecutionRow>(name: Name) => sql.ref<NonNullable<ExecutionRow[Name]>>(name);
const msBetween = (from: string, to: string) =>
  sql<number>`round(extract(epoch from ${sql.ref(to)} - ${sql.ref(from)}) * 1000)::int`;

/** The fields of events about an execution of `done`. */
const EXECUTION = {
  execution_id: sql.raw<string>(publicIdSql('execution', 'id')),
  prompt_name: column('prompt_name'),
  prompt_version: column('prompt_version'),
  model: column('model'),
};
const COMPLETED = {
  ...EXECUTION,
  tokens: jsonBuildObject({
    input: column('tokens_input'),
    output: column('tokens_output'),
    cached_input: column('tokens_cached_input'),
    reasoning: column('tokens_reasoning'),
    total: sql<number>`tokens_input + tokens_output`,
  }),
  cost: jsonBuildObject({
    amount: sql<string | null>`cost_amount::text`,
    currency: sql<'USD'>`'USD'`,
    pricing: sql.ref<Pricing | null>('pricing'),
  }),
  latency: jsonBuildObject({
    queue_ms: msBetween('created_at', 'started_at'),
    model_ms: column('model_ms'),
    total_ms: msBetween('created_at', 'finished_at'),
  }),
};
/** Like `hasUnknownTokens`. */
const HAS_UNKNOWN_TOKENS = sql<SqlBool>`jsonb_path_exists(calls,
  '$[*] ? (@.tokens == null && (@.error == null || exists (@.response)))')`;
/** `data` of `execution.completed`. */
export const COMPLETED_DATA = sql<EventData<'execution.completed'>>`case when ${HAS_UNKNOWN_TOKENS}
  then ${jsonBuildObject({ ...COMPLETED, tokens_unknown: sql.lit(true) })} else ${jsonBuildObject(COMPLETED)} end`;
/** `data` of `execution.failed`. */
export const FAILED_DATA = jsonBuildObject({ ...EXECUTION, error: column('error') });

/** Whether an execution of `done` belongs to a version: drafts have no events. */
export const hasEvents = sql<SqlBool>`prompt_version is not null`;

/** `with('event', …)` after `done`, which has all columns of an execution: writes the event of its end. */
export const endEvent =
  <Type extends EventType>(type: Type, event: Parameters<NewEvent>, data: Expression<EventData<Type>>) =>
  (cte: QueryCreator<Tables & { done: Tables['executions'] }>) =>
    cte
      .insertInto('events')
      .columns(EVENT_COLUMNS)
      .expression(
        cte
          .selectFrom('done')
          .select(eventOf(type, event, data))
          .where(hasEvents),
      )
      .returning('dispatched_at');

/** An execution that a statement ended. */
export interface EndedExecution {
  status: ExecutionStatus;
  provider: string;
  /** Null if it did not fail. */
  error_code: string | null;
  /** The time from its creation to its end, in milliseconds. */
  total_ms: number;
}

/** What to report of the execution of `done`, which has ended. */
export const END_MEASURES = [
  sql.ref<string>('provider').as('provider'),
  sql<string | null>`error->>'code'`.as('error_code'),
  msBetween('created_at', 'finished_at').as('total_ms'),
];

/** Sends the notifications about the execution of `done`, which has ended, and about its `event`, and returns an `EndedExecution`. */
export const END_AND_NOTIFICATIONS = [
  sql.ref<ExecutionStatus>('status').as('status'),
  ...END_MEASURES,
  FINISHED_NOTIFICATION,
  EVENT_NOTIFICATION,
];
