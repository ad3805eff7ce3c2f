import type { Query } from '../../db/database.ts';
import { ApiError, invalidField } from '../../domain/errors.ts';
import type { Example } from '../../domain/evaluations/example.ts';
import { publicId, traceIdOf } from '../../domain/ids.ts';
import type { JsonValue } from '../../domain/text/json.ts';
import { addExamples, type DatasetChange } from '../datasets/add-examples.ts';
import { storeExamples } from '../datasets/inline-examples.ts';
import type { Quotas } from '../workspaces/quotas.ts';
import { findTopStep, getStep, textsOf, type WholeStepRow } from './steps.ts';
import { getTrace } from './traces.ts';

/** Bytes of all examples of one request. */
const MAX_BYTES = 16 * 1024 * 1024;

/** A trace, or one of its steps. */
export interface ExampleSource {
  /** UUID. */
  traceId: string;
  spanId?: string | null | undefined;
}

/** The fields of a step's execution that an example uses. */
async function executionOf(query: Query, { execution_id: id }: WholeStepRow) {
  if (id === null) return undefined;
  const [row] = await query((db) =>
    db.selectFrom('executions').select(['variables', 'prompt_name', 'prompt_version', 'model']).where('id', '=', id),
  );
  return row && { id: publicId('execution', id), ...row };
}

const unlessNull = (entries: Record<string, JsonValue | undefined>): Record<string, JsonValue> =>
  Object.fromEntries(Object.entries(entries).filter((entry): entry is [string, JsonValue] => entry[1] != null));

/** @throws ApiError `not_found` */
export async function exampleOfTrace(
  query: Query,
  { traceId, spanId: given }: ExampleSource,
  expected: 'output' | 'none' = 'none',
): Promise<Example> {
  const spanId = given ?? undefined;
  const trace = await getTrace({ query }, traceId);
  const step = await getStep(query, trace, spanId ?? (await findTopStep(query, trace)));
  const execution = await executionOf(query, step);
  const { input, output }: { input: unknown; output: string | null } = textsOf(step);
  const id = spanId === undefined ? traceIdOf(traceId) : `${traceIdOf(traceId)}:${spanId}`;
  const hasVariables = spanId !== undefined && execution !== undefined && Object.keys(execution.variables).length > 0;
  return {
    id,
    // It was stored as JSON.
    variables: hasVariables ? execution.variables : { input: input as JsonValue },
    ...(expected === 'output' && output !== null && { expected: output }),
    metadata: unlessNull({
      trace_id: traceIdOf(traceId),
      span_id: spanId,
      name: spanId === undefined ? trace.name : step.name,
      execution_id: execution?.id,
      prompt_name: execution?.prompt_name,
      prompt_version: execution?.prompt_version,
      model: execution?.model,
      conversation_id: trace.conversation_id,
      created_at: trace.started_at.toISOString(),
    }),
  };
}

/**
 * Adds traces, or steps of traces, to a dataset. Each becomes an example with its input as the variable `input` (a step with an execution of a
 * prompt: that execution's variables), and its origin in `metadata`. Runs in the caller's transaction, as {@link addExamples} does.
 * @throws ApiError `invalid_request` naming what does not exist
 */
export async function addTracesToDataset(
  query: Query,
  quotas: Quotas,
  name: string,
  { sources, expected }: { sources: readonly ExampleSource[]; expected: 'output' | 'none' },
): Promise<DatasetChange> {
  const examples = new Map<string | undefined, Example>();
  let bytes = 0;
  for (const [index, source] of sources.entries()) {
    const example = await exampleOfTrace(query, source, expected).catch((error: unknown) => {
      if (!(error instanceof ApiError) || error.code !== 'not_found') throw error;
      const what = source.spanId === undefined ? 'is not a trace of this workspace' : 'is not a step of a trace';
      throw invalidField(`traces.${index}`, what);
    });
    bytes += Buffer.byteLength(JSON.stringify(example));
    if (bytes > MAX_BYTES)
      throw invalidField('traces', `has more than ${MAX_BYTES >> 20} MiB of texts: add fewer per request`);
    examples.set(example.id, example);
  }
  const { examplesId } = await storeExamples(query, quotas, [...examples.values()]);
  return addExamples(query, quotas, name, examplesId);
}
