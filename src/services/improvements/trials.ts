import { type SqlBool, sql } from 'kysely';
import type { Query } from '../../db/database.ts';
import { now } from '../../db/sql.ts';
import { changeState, inStates } from '../../db/state-change.ts';
import {
  ENDED_EVALUATION,
  type EvaluationStatus,
  evaluationStates,
  UNFINISHED_EVALUATION,
} from '../../domain/evaluations/evaluation-states.ts';
import type { Example } from '../../domain/evaluations/example.ts';
import { newId, publicId } from '../../domain/ids.ts';
import type { Failure, Trial } from '../../domain/improvements/improvement.ts';
import type { JudgedExample } from '../../domain/improvements/people-agreement.ts';
import type { ReflectionExample } from '../../domain/improvements/reflection.ts';
import type { SplitPart } from '../../domain/improvements/split.ts';
import type { JsonValue } from '../../domain/text/json.ts';
import { EvaluatorList } from '../../evaluators/registry.ts';
import type { Models } from '../../models/model.ts';
import { isOutOfBudget } from '../budget-reason.ts';
import { findExamples } from '../datasets/find-examples.ts';
import { createEvaluation, toStored } from '../evaluations/creation/create-evaluation.ts';
import { type EvaluationRow, getEvaluation, SIGNAL_PENDING } from '../evaluations/evaluations.ts';
import { costOfRun } from '../evaluations/run/costs.ts';
import type { Quotas } from '../workspaces/quotas.ts';
import type { Candidate, ImprovementRow } from './improvements.ts';

export interface TrialDeps {
  models: Models;
  quotas: Quotas;
}

/** Examples of a dataset in the given order, with their ids. */
export async function readExamplesAt(query: Query, row: ImprovementRow, seqs: readonly number[]): Promise<Example[]> {
  const { examplesId } = await findExamples(query, row.dataset_name, row.dataset_version);
  const rows = await query((db) =>
    db
      .selectFrom('dataset_examples')
      .select(['seq', 'variables', 'expected', 'metadata'])
      .select(sql<boolean>`expected is not null`.as('is_expected'))
      .where('dataset_version_id', '=', examplesId)
      .where(sql<SqlBool>`seq = any(${seqs}::int[])`)
      .$castTo<{
        seq: number;
        variables: Example['variables'];
        expected: Example['expected'];
        is_expected: boolean;
        metadata: Exclude<Example['metadata'], undefined> | null;
      }>(),
  );
  const bySeq = new Map(rows.map((found) => [found.seq, found]));
  return seqs.flatMap((seq) => {
    const found = bySeq.get(seq);
    if (found === undefined) return [];
    const { variables, expected, is_expected: isExpected, metadata } = found;
    return [{ variables, ...(isExpected && { expected }), ...(metadata && { metadata }) }];
  });
}

interface NewTrial {
  /** The part from which `indexes` choose; undefined: all of it. */
  part: SplitPart;
  indexes?: readonly number[];
  /** US dollars; null: no limit. */
  maxCost: number | null;
  reuses: boolean;
}

/** The smallest limit of a run. */
export const LEAST_BUDGET = 0.000_001;

/** Stores the evaluation of a candidate. Runs in the transaction that stores it with the candidate, so that it exists once. */
export async function startTrial(
  { models, quotas }: TrialDeps,
  query: Query,
  row: ImprovementRow,
  { number, content }: Pick<Candidate, 'number' | 'content'>,
  { part, indexes, maxCost, reuses }: NewTrial,
): Promise<Trial> {
  const { request } = row;
  const seqs = indexes === undefined ? row.split[part] : indexes.flatMap((index) => row.split[part][index] ?? []);
  const isWhole = indexes === undefined && part !== 'train';
  const id = newId();
  await createEvaluation(
    query,
    row.workspace_id,
    { models, quotas },
    {
      id,
      promptName: row.prompt_name,
      version: row.prompt_version,
      ...(number > 0 && content !== null && { draft: draftOf(content) }),
      examples: await readExamplesAt(query, row, seqs),
      evaluators: EvaluatorList.parse(row.evaluators),
      threshold: 0,
      exampleThreshold: request.example_threshold ?? undefined,
      baseline: null,
      concurrency: request.concurrency,
      ...(isWhole && { mode: request.mode, batch: request.batch ?? undefined }),
      maxCost: maxCost === null ? undefined : maxCost.toFixed(6),
      reuse: reuses ? request.reuse : undefined,
      metadata: { improvement: publicId('improvement', row.id), candidate: String(number), part },
      improvementId: row.id,
    },
  );
  return { evaluation: id, state: 'running', scores: [], cost: 0, calls: 0, reused: 0 };
}

const draftOf = ({ template, messages, tools }: NonNullable<Candidate['content']>) => ({
  ...(template === null ? { messages } : { template }),
  ...(tools !== null && { tools }),
});

/** What became of a trial that has ended, or the evaluation that is still at work. */
export type Settled = { trial: Trial; savings: number } | { waitsFor: EvaluationRow; isOutOfBudget: boolean };

/** Reads how far a trial is. */
export async function readTrial(query: Query, trial: Trial): Promise<Settled> {
  const [found] = await query((db) =>
    db
      .selectFrom('evaluations')
      .select(['status', sql<boolean>`coalesce(${isOutOfBudget}, false)`.as('is_out')])
      .select(sql<Failure | null>`error`.as('error'))
      .where('id', '=', trial.evaluation),
  );
  // It was deleted.
  if (found === undefined) return { trial: { ...trial, state: 'broken' }, savings: 0 };
  if (!(ENDED_EVALUATION as readonly EvaluationStatus[]).includes(found.status))
    return {
      waitsFor: await getEvaluation(query, trial.evaluation),
      isOutOfBudget: found.status === 'paused' && found.is_out,
    };
  const results = await query((db) =>
    db
      .selectFrom('evaluations as e')
      .innerJoin('evaluation_results as r', 'r.evaluation_id', 'e.id')
      .select(['r.seq', 'r.status', 'r.score', 'r.reused_from'])
      .select(sql<number>`coalesce(r.source_cost, 0)::float8`.as('saved'))
      .where('e.id', '=', trial.evaluation)
      .orderBy('r.seq'),
  );
  const reused = results.filter(({ reused_from: from }) => from !== null);
  return {
    trial: {
      ...trial,
      state: found.status === 'completed' ? 'done' : 'broken',
      ...(found.error && { error: found.error }),
      scores: found.status === 'completed' ? results.map(({ status, score }) => (status === 'failed' ? 0 : score)) : [],
      cost: Number(await costOfRun(query, trial.evaluation)),
      calls: results.length - reused.length,
      reused: reused.length,
    },
    savings: reused.reduce((sum, { saved }) => sum + saved, 0),
  };
}

export const storedOf = (row: EvaluationRow) => toStored(row);

/** The answers of an evaluation, for a reflection. @param worst only so many, those with the lowest scores first */
export async function readAnswers(query: Query, evaluation: string, worst?: number): Promise<ReflectionExample[]> {
  const rows = await query((db) =>
    db
      .selectFrom('evaluations as e')
      .innerJoin('evaluation_results as r', 'r.evaluation_id', 'e.id')
      .select(['r.variables', 'r.expected', 'r.output', 'r.status', 'r.score', 'r.scores', 'r.error'])
      .select(sql<boolean>`${sql.ref('r.expected')} is not null`.as('is_expected'))
      .where('e.id', '=', evaluation)
      .$if(worst !== undefined, (results) =>
        results.orderBy('r.score', (by) => by.asc().nullsFirst()).limit(worst ?? 0),
      )
      .orderBy('r.seq'),
  );
  return rows.map((row) => ({
    variables: row.variables as ReflectionExample['variables'],
    output: row.output ?? (row.error as { message: string } | null)?.message ?? '',
    expected: row.is_expected ? (row.expected as ReflectionExample['expected']) : undefined,
    score: row.status === 'failed' ? 0 : row.score,
    scores: Object.entries((row.scores ?? {}) as Record<string, { score: number | null; reason: string | null }>).map(
      ([name, { score, reason }]) => ({ name, score, reason }),
    ),
  }));
}

/** Longer answers are not values of a score. */
const VALUE_CHARACTERS = 200;

/** What people and both prompts said about the examples that they have in common, from two evaluations of the same ones. */
export const readJudged = (query: Query, base: string, candidate: string): Promise<JudgedExample[]> =>
  query((db) =>
    db
      .selectFrom('evaluations as e')
      .innerJoin('evaluation_results as r', 'r.evaluation_id', 'e.id')
      .innerJoin('evaluations as f', (join) => join.on('f.id', '=', base))
      .innerJoin('evaluation_results as b', (join) =>
        join.onRef('b.evaluation_id', '=', 'f.id').onRef('b.seq', '=', 'r.seq'),
      )
      .innerJoin('dataset_examples as d', (join) =>
        join.onRef('d.dataset_version_id', '=', 'e.examples_id').onRef('d.seq', '=', 'r.seq'),
      )
      .select(['r.expected'])
      // As `from-scores` writes them.
      .select(
        sql<string | null>`case when d.metadata->'reviewers' is not null then d.metadata->>'score' end`.as('score'),
      )
      .select(sql<string>`left(b.output, ${VALUE_CHARACTERS})`.as('base'))
      .select(sql<string>`left(r.output, ${VALUE_CHARACTERS})`.as('candidate'))
      .where('e.id', '=', candidate)
      .where('r.expected', 'is not', null)
      .where('r.output', 'is not', null)
      .where('b.output', 'is not', null)
      .$narrowType<{ expected: JsonValue }>(),
  );

const CANCEL = changeState(evaluationStates, { to: 'canceled' });

/**
 * Ends evaluations of an improvement: calls in flight are abandoned, and their results are kept for reuse.
 * @param ids UUIDs. Default: all that are not over
 * @returns the ended evaluations, whose workflows are to be signaled
 */
export const cancelTrials = (query: Query, improvementId: string, ids?: readonly string[]) =>
  query((db) =>
    db
      .updateTable('evaluations')
      .set({ ...CANCEL.set, finished_at: now, ...SIGNAL_PENDING })
      .where('improvement_id', '=', improvementId)
      .where(inStates(evaluationStates, UNFINISHED_EVALUATION))
      .where(CANCEL.where)
      .$if(ids !== undefined, (rows) => rows.where(sql<SqlBool>`id = any(${ids ?? []}::uuid[])`))
      .returning(['id', 'retries']),
  );
