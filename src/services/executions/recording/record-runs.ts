import type { Query } from '../../../db/database.ts';
import { ApiError, type ErrorDetail } from '../../../domain/errors.ts';
import { newId, spanIdOf } from '../../../domain/ids.ts';
import { countJsonValues, MAX_JSON_VALUES } from '../../../domain/text/json-count.ts';
import { mapPaced } from '../../../lib/event-loop.ts';
import type { Models } from '../../../models/model.ts';
import { addLateRuns, lockLateDays } from '../../statistics/late-runs.ts';
import type { Quotas } from '../../workspaces/quotas.ts';
import { callEnd } from '../run/calls.ts';
import { findRuns, insertRuns, type RecordedRow } from './insert-runs.ts';
import type { RecordedRun } from './recorded-run.ts';
import { createRunModels, type RunModels, tokenUsage } from './run-cost.ts';
import { promptsOfRuns, type RunPrompt } from './run-prompts.ts';

/** The maximum size of a stored run: the memory needed to show it. */
export const MAX_RUN_BYTES = 1024 * 1024;
const MAX_DETAILS = 20;
const TAKEN = 'cannot be used: generate another one';
/** The maximum time by which the application's clock may be ahead. */
const MAX_AHEAD_MS = 5 * 60_000;
const MAX_AGE_DAYS = 366;
const MAX_AGE_MS = MAX_AGE_DAYS * 24 * 60 * 60_000;

/** @param faults with paths starting at the list of runs */
function refuse(faults: readonly ErrorDetail[]): never {
  const details = faults.slice(0, MAX_DETAILS).map(({ path, message }) => ({ path: `records.${path}`, message }));
  const message = details.map(({ path, message: fault }) => `${path}: ${fault}`).join('; ');
  throw new ApiError('invalid_request', message, { details });
}

function rowOf(run: RecordedRun, prompt: RunPrompt, models: RunModels, name: { model: string; provider: string }) {
  const { id, input, output, toolCalls, tokens, error, startedAt, finishedAt } = run;
  const cost = models.cost(name.model, run);
  const modelMs = run.modelMs ?? finishedAt.getTime() - startedAt.getTime();
  const spent = tokens && { tokens: tokenUsage(tokens), cost };
  const isText = typeof input === 'string';
  const uuid = id !== undefined && 'uuid' in id ? id.uuid : newId(startedAt);
  const { trace } = run;
  const key = id !== undefined && 'key' in id ? id.key : null;
  const row: RecordedRow = {
    id: uuid,
    record_key: id === undefined && trace?.spanId !== undefined ? spanKey(trace.id, trace.spanId) : key,
    status: error === null ? 'completed' : 'failed',
    prompt_name: prompt.name,
    prompt_version: prompt.version,
    label: run.label ?? null,
    ...name,
    variables: run.variables,
    input: isText ? input : null,
    input_messages: isText ? null : input,
    metadata: run.metadata,
    calls: [
      {
        model: name.model,
        started_at: startedAt.toISOString(),
        ...callEnd(modelMs, spent ?? null, error),
        cost: cost.amount,
      },
    ],
    output,
    tool_calls: toolCalls.length === 0 ? null : toolCalls,
    tokens_input: tokens?.input ?? 0,
    tokens_output: tokens?.output ?? 0,
    tokens_cached_input: tokens?.cached_input ?? 0,
    tokens_reasoning: tokens?.reasoning ?? 0,
    cost_amount: cost.amount,
    pricing: cost.pricing,
    model_ms: modelMs,
    error,
    release_id: prompt.release?.id ?? null,
    release_arm: prompt.release?.arm ?? null,
    release_keyed: prompt.release?.keyed ?? null,
    release_stage: prompt.release?.stage ?? null,
    trace_id: trace?.id ?? null,
    span_id: trace === undefined ? null : (trace.spanId ?? spanIdOf(uuid)),
    parent_id: trace?.parentId ?? null,
    conversation_id: run.conversationId ?? null,
    step_type: trace?.type ?? null,
    started_at: startedAt,
    answered_at: error === null ? finishedAt : null,
    finished_at: finishedAt,
  };
  return row;
}

/** The key of a run that was recorded from a span. @param trace UUID */
const spanKey = (trace: string, span: string) => `${trace.replaceAll('-', '')}:${span}`;

/** The executions recorded from the spans of runs, by key. If a run has its own id, its span is still the same call. */
async function findSpans(query: Query, rows: readonly RecordedRow[]): Promise<Map<string, string>> {
  const keys = rows.flatMap(({ id, record_key: key, trace_id: trace, span_id: span, step_type: type }) =>
    type === null || trace === null || span === null || key === spanKey(trace, span)
      ? []
      : [{ id, record_key: spanKey(trace, span) }],
  );
  if (keys.length === 0) return new Map();
  return new Map((await findRuns(query, keys)).map((row) => [row.record_key ?? '', row.id]));
}

/** The errors in the times of a run, at the current time. */
function* timeFaults({ startedAt, finishedAt }: RecordedRun): Generator<ErrorDetail> {
  const now = Date.now();
  if (startedAt.getTime() < now - MAX_AGE_MS)
    yield { path: 'started_at', message: `must be at most ${MAX_AGE_DAYS} days ago` };
  for (const [path, time] of Object.entries({ started_at: startedAt, finished_at: finishedAt }))
    if (time.getTime() > now + MAX_AHEAD_MS)
      yield { path, message: 'must not be in the future: check the clock of the sender' };
}

/** @returns what is wrong with the size of a row; undefined if nothing */
function sizeFault(text: string): string | undefined {
  if (text.length * 3 > MAX_RUN_BYTES && Buffer.byteLength(text) > MAX_RUN_BYTES)
    return `is too large: as JSON it may have at most ${MAX_RUN_BYTES} bytes`;
  // A short text cannot contain that many values.
  if (text.length > MAX_JSON_VALUES && countJsonValues(Buffer.from(text), MAX_JSON_VALUES) > MAX_JSON_VALUES)
    return `has too many JSON values: at most ${MAX_JSON_VALUES}`;
  return undefined;
}

/** The rows of runs, with their JSON texts. @throws ApiError `invalid_request` naming each run that can't be stored, and the reason */
async function rowsOf(query: Query, models: Pick<Models, 'priceOf'>, runs: readonly RecordedRun[]) {
  const runModels = createRunModels(models);
  const { prompts, faults } = await promptsOfRuns(query, runs);
  const names = runs.map((run, index) => {
    const name = runModels.name(run);
    if ('fault' in name) faults.push({ path: `${index}.model`, message: name.fault });
    for (const { path, message } of timeFaults(run)) faults.push({ path: `${index}.${path}`, message });
    return name;
  });
  if (faults.length > 0) refuse(faults);
  return mapPaced(runs, (run, index) => {
    const [prompt, name] = [prompts[index], names[index]];
    if (prompt === undefined || name === undefined || 'fault' in name) throw new Error('A fault was not reported.');
    const row = rowOf(run, prompt, runModels, name);
    const text = JSON.stringify(row);
    const fault = sizeFault(text);
    if (fault !== undefined) refuse([{ path: String(index), message: fault }]);
    return { row, text };
  });
}

/**
 * Stores runs made elsewhere as ended executions: all of them, or none. Runs that are already stored are left unchanged. Runs in
 * the caller's transaction.
 * @returns UUIDs of the executions, in the order of the runs
 * @throws ApiError `invalid_request` naming each run that can't be stored, and the reason; `quota_exceeded`
 */
export async function recordRuns(
  { models, quotas }: { models: Pick<Models, 'priceOf'>; quotas: Pick<Quotas, 'check'> },
  query: Query,
  runs: readonly RecordedRun[],
): Promise<string[]> {
  // They have ended, so only the quota of bytes applies.
  await quotas.check(query, 'executionBytes');
  const given = await rowsOf(query, models, runs);
  const rows = given.map(({ row }) => row);
  await lockLateDays(query, rows);
  const spans = await findSpans(query, rows);
  const ofSpan = ({ trace_id: trace, span_id: span }: RecordedRow) =>
    trace === null || span === null ? undefined : spans.get(spanKey(trace, span));
  const stored = await insertRuns(
    query,
    spans.size === 0 ? given : given.filter(({ row }) => ofSpan(row) === undefined),
  );
  await addLateRuns(
    query,
    stored.map(({ id }) => id),
    rows,
  );
  const nameOf = ({ id, record_key: key }: Pick<RecordedRow, 'id' | 'record_key'>) =>
    key === null ? `id ${id}` : `key ${key}`;
  const known = new Map(stored.map((row) => [nameOf(row), row.id]));
  const before = rows.filter((row) => !known.has(nameOf(row)));
  if (before.length > 0)
    for (const row of await findRuns(query, before)) {
      known.set(`id ${row.id}`, row.id);
      known.set(nameOf(row), row.id);
    }
  const ids = rows.map((row) => known.get(nameOf(row)) ?? ofSpan(row));
  // The ids belong to another workspace, which is not disclosed.
  const taken = ids.flatMap((id, index) => (id === undefined ? [{ path: `${index}.id`, message: TAKEN }] : []));
  if (taken.length > 0) refuse(taken);
  return ids.map((id) => id ?? '');
}
