import { sql } from 'kysely';
import { CHANNELS, type Listener } from '../../../db/listener.ts';
import { notify } from '../../../db/sql.ts';
import { parseJson } from '../../../evaluators/matching/json.ts';
import { EXECUTION_COLUMN_NAMES, type ExecutionRow, JSON_TEXT_NAMES } from '../executions.ts';

const UUID_LENGTH = 36;
/** PostgreSQL accepts payloads of less than 8,000 bytes. */
const MAX_JSON_BYTES = 7_900;

/** The value in the form the driver returns: an amount is a text. */
const told = (column: string) =>
  column === 'cost_amount' || JSON_TEXT_NAMES.has(column) ? sql`${sql.ref(column)}::text` : sql.ref(column);
/** Texts that alone exceed the limit are not copied. */
const json = sql`case when bytes < ${sql.lit(MAX_JSON_BYTES)} then json_build_array(${sql.join(EXECUTION_COLUMN_NAMES.map(told))})::text end`;

/** Notifies of the end of the execution of `done`, which has all columns, and includes the execution itself if it is short. */
export const FINISHED_NOTIFICATION = sql`(select ${notify(
  CHANNELS.executionFinished,
  sql<string>`id || case when octet_length(json) < ${sql.lit(MAX_JSON_BYTES)} then json else '' end`,
)} from (select ${json} as json) as told)`.as('finished_told');

/** The execution in a notification; undefined if another release with another format sent it. */
function parseNotification(values: string): ExecutionRow | undefined {
  const told = parseJson(values);
  if (!told.ok || !Array.isArray(told.value) || told.value.length !== EXECUTION_COLUMN_NAMES.length) return undefined;
  const all = told.value;
  const row = Object.fromEntries(
    EXECUTION_COLUMN_NAMES.map((column, index) => [column, all[index]]),
  ) as unknown as ExecutionRow;
  const date = (value: unknown) => new Date(value as string);
  return {
    ...row,
    created_at: date(row.created_at),
    started_at: row.started_at && date(row.started_at),
    finished_at: row.finished_at && date(row.finished_at),
  };
}

/** @param heard called with the UUID of an ended execution, and a function that returns the execution itself if the notification includes it */
export function onExecutionFinished(
  listener: Pick<Listener, 'on'>,
  heard: (id: string, told: () => ExecutionRow | undefined) => void,
): void {
  listener.on(CHANNELS.executionFinished, (payload) => {
    const values = payload.slice(UUID_LENGTH);
    heard(payload.slice(0, UUID_LENGTH), () => (values === '' ? undefined : parseNotification(values)));
  });
}
