import { sql } from 'kysely';
import type { Query } from '../../db/database.ts';
import { ApiError } from '../../domain/errors.ts';
import type { ToolCall } from '../../domain/prompts/messages.ts';
import { parseKeepingDigits } from '../../domain/text/json-digits.ts';
import { readableInput } from '../../domain/text/readable-messages.ts';
import { parseJson } from '../../evaluators/matching/json.ts';
import { findTopStep, getStep, stepsOf, type TraceDays, textsOf } from './steps.ts';

/** The number of first steps, and of last steps, that are described. */
const DESCRIBED_STEPS = 100;
/** Characters of each text of a described step. */
const DESCRIBED_CHARS = 400;
/** Characters of all described steps. */
const MAX_DESCRIBED_CHARS = 32 * 1024;
/** Bytes of the inputs of tools: those after them are left out. */
const MAX_CALL_BYTES = 1024 * 1024;
const MAX_CALLS = 1_000;

/** The parts of a trace that evaluators get. */
export interface TraceTexts {
  input: string;
  output: string;
  /** The calls of its tool steps, in order. */
  toolCalls: ToolCall[];
  /** The steps in words. */
  steps: string;
  bytes: number;
}

/** The beginning of a text of a step. */
const beginning = (field: 'input' | 'output', ...others: string[]) =>
  sql<
    string | null
  >`left(coalesce(${sql.ref('s.content')} ->> ${sql.lit(field)}, ${sql.join(others.map((column) => sql`${sql.ref(column)}::text`))}), ${sql.lit(DESCRIBED_CHARS)})`;
const inOrder = sql`(order by ${sql.ref('s.started_us')}, ${sql.ref('s.span_id')})`;

const readDescribed = (query: Query, trace: TraceDays) =>
  query((db) =>
    db
      .with('ranked', (cte) =>
        stepsOf(cte, trace)
          .select(['s.span_id', 's.day', sql<number>`row_number() over ${inOrder}`.as('at')])
          .select(sql<number>`count(*) over ()`.as('of')),
      )
      .selectFrom('ranked as r')
      .innerJoin('trace_steps as s', (join) =>
        join.onRef('s.span_id', '=', 'r.span_id').onRef('s.day', '=', 'r.day').on('s.trace_id', '=', trace.id),
      )
      .leftJoin('executions as e', 'e.id', 's.execution_id')
      .select(['r.at', 'r.of', 's.type', 's.name', 's.tool', 's.model', 's.error', 's.status'])
      .select([
        beginning('input', 'e.input', 'e.input_messages').as('input'),
        beginning('output', 'e.output').as('output'),
      ])
      .where((eb) =>
        eb.or([eb('r.at', '<=', DESCRIBED_STEPS), eb('r.at', '>', sql<number>`r.of - ${DESCRIBED_STEPS}::int`)]),
      )
      .orderBy('r.at'),
  );
type ToldStep = Awaited<ReturnType<typeof readDescribed>>[number];

/** A step in words. The input of calls and agents repeats what came before. */
function describeStep({ at, type, name, tool, model, status, error, input, output }: ToldStep): string {
  const repeats = type === 'model' || type === 'agent';
  return [
    `${at}. ${type} ${tool ?? name}${model === null ? '' : ` (${model})`}${status === 'error' ? ` failed: ${error ?? 'no reason given'}` : ''}`,
    ...(input === null || repeats ? [] : [`   input: ${input}`]),
    ...(output === null ? [] : [`   output: ${output}`]),
  ].join('\n');
}

function describeSteps(steps: readonly ToldStep[]): string {
  const lines: string[] = [];
  let before = 0;
  for (const step of steps) {
    if (step.at > before + 1) lines.push(`… ${step.at - before - 1} more steps …`);
    lines.push(describeStep(step));
    before = step.at;
  }
  const text = lines.join('\n');
  return text.length <= MAX_DESCRIBED_CHARS ? text : `${text.slice(0, MAX_DESCRIBED_CHARS).toWellFormed()} …`;
}

async function readCalls(query: Query, trace: TraceDays): Promise<ToolCall[]> {
  const input = sql<string | null>`${sql.ref('s.content')} ->> 'input'`;
  const rows = await query((db) =>
    db
      .selectFrom(
        stepsOf(db, trace)
          .where('s.type', '=', 'tool')
          .select(['s.span_id', 's.tool', 's.name', 's.started_us', input.as('input')])
          .select(sql<number>`sum(octet_length(coalesce(${input}, ''))) over ${inOrder}`.as('until'))
          .as('calls'),
      )
      .select(['span_id', 'tool', 'name', 'input'])
      .where('until', '<=', MAX_CALL_BYTES)
      .orderBy('started_us')
      .orderBy('span_id')
      .limit(MAX_CALLS),
  );
  return rows.map(({ span_id, tool, name, input: text }) => {
    const parsed = text === null ? undefined : parseJson(text, parseKeepingDigits);
    return { id: span_id, name: tool ?? name, input: parsed?.ok ? parsed.value : text };
  });
}

/** The output of the step that ended last. */
async function readLastOutput(query: Query, trace: TraceDays): Promise<string | null> {
  const [row] = await query((db) =>
    stepsOf(db, trace)
      .select('span_id')
      .where('has_output', '=', sql.lit(true))
      .orderBy(sql`ended_us desc nulls last`)
      .orderBy('span_id')
      .limit(1),
  );
  return row === undefined ? null : textsOf(await getStep(query, trace, row.span_id)).output;
}

/** @returns undefined if its steps are gone */
export async function readTexts(query: Query, trace: TraceDays): Promise<TraceTexts | undefined> {
  try {
    const top = textsOf(await getStep(query, trace, await findTopStep(query, trace)));
    const input = top.input === null ? '' : readableInput(top.input);
    const output = top.output ?? (await readLastOutput(query, trace)) ?? '';
    const toolCalls = await readCalls(query, trace);
    const steps = describeSteps(await readDescribed(query, trace));
    const bytes = [input, output, steps, JSON.stringify(toolCalls)].reduce(
      (sum, text) => sum + Buffer.byteLength(text),
      0,
    );
    return { input, output, toolCalls, steps, bytes };
  } catch (error) {
    if (error instanceof ApiError && error.code === 'not_found') return undefined;
    throw error;
  }
}
