import { sql } from 'kysely';
import type { Query, WorkspaceDatabase } from '../../db/database.ts';
import { unnestOf } from '../../db/sql.ts';
import { ApiError, invalidField } from '../../domain/errors.ts';
import type { Example } from '../../domain/evaluations/example.ts';
import {
  GENERATION_MESSAGES,
  generationFormat,
  generationInput,
  MAX_SAMPLES,
  readGenerated,
} from '../../domain/improvements/generation.ts';
import { wordingOf } from '../../domain/improvements/parts.ts';
import { exampleKey, splitEntry } from '../../domain/improvements/split.ts';
import type { ModelParameters } from '../../domain/prompts/parameters.ts';
import { parsePrompt } from '../../domain/prompts/prompt.ts';
import { jsonIn } from '../../evaluators/matching/json-in-text.ts';
import type { Models } from '../../models/model.ts';
import { findExamples } from '../datasets/find-examples.ts';
import { readExamples } from '../datasets/read-examples.ts';
import type { ExecutionToRun } from '../executions/creation/store-execution.ts';
import { resolveIncludes } from '../prompts/includes.ts';
import { archived, getPrompt, type VersionSelector } from '../prompts/prompts.ts';
import { contentOf } from '../prompts/version.ts';
import { noteInLedger } from './improvements.ts';
import { versionOf } from './plan-improvement.ts';
import { costOfCall, MAX_TOKENS } from './reflections.ts';

/** The number of first examples of the dataset among which samples are chosen. */
const READ_EXAMPLES = 200;

export interface GenerationRequest extends VersionSelector {
  promptName: string;
  /** The generated examples are not in it. It need not exist. */
  datasetName: string;
  model: string;
  parameters: ModelParameters;
  count: number;
  instructions: string;
  /** US dollars. */
  maxCost?: number | undefined;
}

/** What a model wrote. */
export interface Generated {
  /** Marked as generated. */
  examples: Example[];
  dropped: { invalid: number; duplicate: number };
}

/**
 * Prepares the one call that writes inputs for a prompt. Samples of the dataset that it shows are noted: these are never held out
 * later.
 * @returns the call, and how to read its answer
 * @throws ApiError `not_found`, `prompt_archived`, `invalid_request`
 */
export async function prepareGeneration(
  db: WorkspaceDatabase,
  models: Pick<Models, 'priceOf'>,
  {
    promptName,
    version,
    label,
    datasetName,
    model,
    count,
    instructions,
    maxCost,
    parameters: given,
  }: GenerationRequest,
): Promise<{ version: number; execution: ExecutionToRun; read: (output: string | null) => Promise<Generated> }> {
  const { query } = db;
  const row = await getPrompt(query, promptName, { version, label });
  if (row.archived_at !== null) throw archived(promptName);
  const content = contentOf(versionOf(row));
  const prompt = parsePrompt(content, await resolveIncludes(query, content, 'prompt_name'));
  if (prompt.names.length === 0) throw invalidField('prompt_name', 'has no variables, so there is only one input');
  const unsuited = prompt.names.find((name) => ['messages', 'file'].includes(content.inputs?.[name]?.type ?? ''));
  if (unsuited !== undefined)
    throw invalidField(
      'prompt_name',
      `has the variable "${unsuited}" of ${content.inputs?.[unsuited]?.type}: only texts, numbers, booleans and JSON can be generated`,
    );
  const examplesId = await latestOf(query, datasetName);
  const samples = examplesId === undefined ? [] : await chooseSamples(query, examplesId);
  const variables = generationInput({
    wording: wordingOf(content),
    names: prompt.names,
    inputs: content.inputs,
    samples,
    count,
    instructions,
  });
  const parameters = {
    ...given,
    max_tokens: given.max_tokens ?? MAX_TOKENS,
    response_format: generationFormat(prompt.names, content.inputs),
  };
  const chars = JSON.stringify([GENERATION_MESSAGES, variables]).length;
  if (maxCost !== undefined) requireWithin(maxCost, costOfCall(models, model, chars, parameters.max_tokens));
  await noteInLedger(query, promptName, [...new Set(samples.map(exampleKey))], 'seen');
  return {
    version: row.version,
    execution: {
      variables,
      draft: { messages: GENERATION_MESSAGES, model, parameters },
      metadata: { examples_for: promptName },
    },
    async read(output) {
      if (output === null) return { examples: [], dropped: { invalid: 0, duplicate: 0 } };
      const { examples, invalid, duplicate } = readGenerated(jsonIn(output), prompt, count);
      const fresh = examplesId === undefined ? examples : await withoutKnown(db.heavy.query, examplesId, examples);
      return { examples: fresh, dropped: { invalid, duplicate: duplicate + examples.length - fresh.length } };
    },
  };
}

function requireWithin(maxCost: number, most: number | null): void {
  if (most === null) throw invalidField('max_cost', 'must be omitted: the price of this model is unknown');
  if (most > maxCost)
    throw invalidField(
      'max_cost',
      `must be at least ${Number(most.toPrecision(2))}, which this call can cost, or parameters.max_tokens must be lower`,
    );
}

/** The examples of the latest version; undefined if there is no such dataset. */
async function latestOf(query: Query, datasetName: string): Promise<string | undefined> {
  try {
    return (await findExamples(query, datasetName)).examplesId;
  } catch (error) {
    if (error instanceof ApiError && error.code === 'not_found') return undefined;
    throw error;
  }
}

/** Examples that a search could learn from, which were not generated. */
async function chooseSamples(query: Query, examplesId: string): Promise<Example['variables'][]> {
  const rows = await readExamples(query, examplesId, 0, READ_EXAMPLES);
  return rows
    .map(({ variables, metadata }) => ({
      variables: JSON.parse(variables.text) as Example['variables'],
      metadata: JSON.parse(metadata?.text ?? '{}') as NonNullable<Example['metadata']>,
    }))
    .filter((example) => example.metadata['generated'] !== true && splitEntry(0, example).part === 'train')
    .slice(0, MAX_SAMPLES)
    .map(({ variables }) => variables);
}

/** Leaves out examples that the dataset has, ignoring letter case and the number of spaces. */
async function withoutKnown(query: Query, examplesId: string, examples: Example[]): Promise<Example[]> {
  if (examples.length === 0) return [];
  const given = unnestOf('given', {
    place: ['integer', examples.map((_, place) => place)],
    variables: ['jsonb', examples.map(({ variables }) => JSON.stringify(variables))],
  });
  const normalized = (of: 'known' | 'given') =>
    sql`lower(regexp_replace(${sql.ref(`${of}.variables`)}::text, '(\\s|\\\\[nrt])+', ' ', 'g'))`;
  const rows = await query((db) =>
    db
      .selectFrom('dataset_examples as known')
      .innerJoin(given, (join) => join.on(sql<boolean>`${normalized('known')} = ${normalized('given')}`))
      .select('given.place')
      .distinct()
      .where('known.dataset_version_id', '=', examplesId),
  );
  const known = new Set(rows.map(({ place }) => place));
  return examples.filter((_, place) => !known.has(place));
}
