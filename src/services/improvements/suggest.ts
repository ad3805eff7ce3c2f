import type { Query, WorkspaceDatabase } from '../../db/database.ts';
import { anyOf } from '../../db/sql.ts';
import { invalidField, notFound } from '../../domain/errors.ts';
import type { Reject } from '../../domain/improvements/candidate.ts';
import { contentKey, guard, maxLengthOf } from '../../domain/improvements/guard.ts';
import type { CandidateContent } from '../../domain/improvements/improvement.ts';
import { readParts } from '../../domain/improvements/parts.ts';
import {
  REFLECTION_MESSAGES,
  type ReflectionExample,
  readReflection,
  reflectionInput,
} from '../../domain/improvements/reflection.ts';
import { keysOf, splitEntry } from '../../domain/improvements/split.ts';
import type { ModelParameters } from '../../domain/prompts/parameters.ts';
import { jsonIn } from '../../evaluators/matching/json-in-text.ts';
import type { ExecutionToRun } from '../executions/creation/store-execution.ts';
import { archived, getPrompt, type VersionSelector } from '../prompts/prompts.ts';
import { contentOf } from '../prompts/version.ts';
import { noteInLedger } from './improvements.ts';
import { checkParts, versionOf } from './plan-improvement.ts';
import { reflectionParameters } from './reflections.ts';
import { readAnswers } from './trials.ts';

/** The maximum number of examples that a suggestion is made from, and of results that are read to find them. */
export const MAX_SHOWN = 8;
const MAX_READ = 500;

export interface SuggestionRequest extends VersionSelector {
  promptName: string;
  /** UUIDs. */
  from: { evaluationId: string } | { executionIds: string[] };
  model: string;
  parameters: ModelParameters;
  /** Undefined: those of the prompt. */
  parts?: string[] | undefined;
  keep: string[];
  instructions: string;
}

/** What a model suggested: `content` is null if the guard refused it, or there is no answer. */
export interface Suggestion {
  content: CandidateContent | null;
  reject: Reject | null;
  change: string | null;
  diagnosis: string[];
}

/**
 * Prepares the one call that suggests a better prompt, as an improvement writes a candidate, and notes the examples that it shows:
 * these are never held out later.
 * @returns the call, and how to read its answer
 * @throws ApiError `not_found`, `prompt_archived`, `invalid_request`
 */
export async function prepareSuggestion(
  db: WorkspaceDatabase,
  { promptName, version, label, from, ...request }: SuggestionRequest,
): Promise<{
  version: number;
  examples: number;
  execution: ExecutionToRun;
  read: (output: string | null) => Suggestion;
}> {
  const { query } = db;
  const prompt = await getPrompt(query, promptName, { version, label });
  if (prompt.archived_at !== null) throw archived(promptName);
  const base = versionOf(prompt);
  const parts = checkParts(base, { parts: request.parts, keep: request.keep });
  const texts = readParts(base, parts);
  const examples =
    'evaluationId' in from
      ? await failuresOf(query, promptName, from.evaluationId)
      : await readExecutions(query, promptName, from.executionIds);
  await noteInLedger(query, promptName, [...new Set(keysOf(examples))], 'seen');
  const { keep, instructions, model } = request;
  const { variables, shown } = reflectionInput({
    content: contentOf(base),
    parts: texts,
    isRestart: false,
    examples,
    feedback: [],
    history: [],
    keep,
    maxLength: maxLengthOf(base),
    instructions,
  });
  const read = (output: string | null): Suggestion => {
    if (output === null) return { content: null, reject: null, change: null, diagnosis: [] };
    const answer = readReflection(jsonIn(output));
    if ('reject' in answer) return { content: null, reject: answer.reject, change: null, diagnosis: [] };
    const { change, diagnosis, texts: written } = answer.reflection;
    const known = new Set([contentKey(base)]);
    const guarded = guard(written, { base, parts, parent: texts, keep, shown, known });
    if ('reject' in guarded) return { content: null, reject: guarded.reject, change, diagnosis };
    const { template, messages, tools } = guarded.content;
    return { content: { template, messages, tools }, reject: null, change, diagnosis };
  };
  const parameters = reflectionParameters({ reflection: request, parts });
  return {
    version: prompt.version,
    examples: examples.length,
    execution: {
      variables: { ...variables },
      draft: { messages: REFLECTION_MESSAGES, model, parameters },
      metadata: { suggestion_for: promptName },
    },
    read,
  };
}

/** The worst results of an evaluation on examples that a search could learn from. */
async function failuresOf(query: Query, promptName: string, id: string): Promise<ReflectionExample[]> {
  const [evaluation] = await query((db) => db.selectFrom('evaluations').select('prompt_name').where('id', '=', id));
  if (evaluation === undefined) throw notFound('This evaluation');
  if (evaluation.prompt_name !== promptName)
    throw invalidField('evaluation_id', `is not an evaluation of the prompt "${promptName}"`);
  const failures = (await readAnswers(query, id, MAX_READ)).filter(
    ({ score, variables }) => (score ?? 0) < 1 && splitEntry(0, { variables }).part === 'train',
  );
  if (failures.length === 0)
    throw invalidField(
      'evaluation_id',
      'has no failing example to learn from: three of four examples, by a hash of their variables, are kept to choose and prove. Name executions instead',
    );
  return failures.slice(0, MAX_SHOWN);
}

/** Executions of the prompt, with all scores that say why they are good or bad. */
async function readExecutions(query: Query, promptName: string, ids: readonly string[]): Promise<ReflectionExample[]> {
  const rows = await query((db) =>
    db
      .selectFrom('executions')
      .select(['id', 'variables', 'output', 'error'])
      .where('id', '=', anyOf(ids))
      .where('prompt_name', '=', promptName)
      .orderBy('id'),
  );
  if (rows.length < ids.length) throw invalidField('execution_ids', `must be executions of the prompt "${promptName}"`);
  const scores = await query((db) =>
    db
      .selectFrom('scores')
      .select(['execution_id', 'name', 'number', 'text', 'comment'])
      .where('execution_id', '=', anyOf(ids))
      .orderBy('created_at', 'desc')
      .orderBy('id', 'desc')
      .limit(ids.length * MAX_SHOWN),
  );
  return rows.map(({ id, variables, output, error }) => ({
    variables,
    output: output ?? (error as { message: string } | null)?.message ?? '',
    expected: undefined,
    score: null,
    scores: scores
      .filter(({ execution_id: of }) => of === id)
      .map(({ name, number, text, comment }) => ({
        name,
        score: number,
        reason: [text, comment].filter((part) => part !== null).join(': ') || null,
      })),
  }));
}
