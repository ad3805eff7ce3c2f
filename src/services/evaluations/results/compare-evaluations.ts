import type { Query, WorkspaceDatabase } from '../../../db/database.ts';
import { ApiError } from '../../../domain/errors.ts';
import { type ComparisonSums, compareSums, type RunComparison } from '../../../domain/evaluations/comparison.ts';
import { MAX_RESAMPLED_PAIRS } from '../../../domain/evaluations/paired-difference.ts';
import { publicId } from '../../../domain/ids.ts';
import { type EvaluationRow, getEvaluation } from '../evaluations.ts';

/** At most so many examples or keys are listed in each group; totals always count all. */
const LISTED = 100;
/** Runs of a million examples each take some seconds. */
const TIMEOUT_MS = 120_000;

async function getCompleted(query: Query, id: string): Promise<EvaluationRow> {
  const run = await getEvaluation(query, id);
  if (run.status !== 'completed')
    throw new ApiError(
      'invalid_state',
      `${publicId('evaluation', run.id)} is ${run.status}: only completed evaluations can be compared.`,
    );
  return run;
}

const MILLIONTHS = (score: string) => `round((coalesce(${score}, 0) * 1000000)::numeric)::bigint`;

// raw SQL: the runs are joined by a full join, which the builder refuses in a workspace.
/** The examples of one run; `nth` counts those with the same key. */
const examplesOf = (parameter: string) => `
  select r.seq, r.example_key as key, ${MILLIONTHS('r.score')} as score, r.status = 'failed' as failed, r.scores,
    row_number() over (partition by r.example_key order by r.seq) as nth
  from evaluations e join evaluation_results r on r.evaluation_id = e.id
  where e.workspace_id = $1 and e.id = ${parameter}`;

const changedList = (condition: string) => `
  (select coalesce(json_agg(json_build_object('key', key, 'seq_a', seq_a, 'seq_b', seq_b, 'score_a', score_a / 1e6, 'score_b', score_b / 1e6,
       'difference', (score_b - score_a) / 1e6, 'failed_a', failed_a, 'failed_b', failed_b)), '[]')
   from (select * from pairs where ${condition} order by abs(score_b - score_a) desc, seq_a limit ${LISTED}) as changed)`;
const keyList = (condition: string, order: string) => `
  (select coalesce(json_agg(key), '[]') from (select key from pairs where ${condition} order by ${order} limit ${LISTED}) as keys)`;

/** Sums of one evaluator, whose name is `parameter`. */
function evaluatorColumns(parameter: string, index: number): string {
  const score = (run: string) => MILLIONTHS(`(scores_${run}->${parameter}->>'score')::float8`);
  return `sum(${score('a')})::float8 as "a${index}", sum(${score('b')})::float8 as "b${index}",
    count(*) filter (where ${score('b')} < ${score('a')})::int as "regressions${index}",
    count(*) filter (where ${score('b')} > ${score('a')})::int as "improvements${index}"`;
}

/**
 * One statement, whose memory is the server's and bounded (what is more goes to its disk), over pairs of examples: of several
 * with one key, the first with the first, and so on.
 */
function sumsStatement(names: readonly string[]): { text: string } {
  const inBoth = 'seq_a is not null and seq_b is not null';
  return {
    // raw SQL: as above.
    text: `with a as (${examplesOf('$2')}), b as (${examplesOf('$3')}),
      pairs as materialized (
        select coalesce(a.key, b.key) as key, a.seq as seq_a, b.seq as seq_b, a.score as score_a, b.score as score_b,
          a.failed as failed_a, b.failed as failed_b, a.scores as scores_a, b.scores as scores_b,
          b.nth as nth_b
        from a full join b on a.key = b.key and a.nth = b.nth),
      sums as (
        select count(*)::int as compared, coalesce(sum(score_a), 0)::float8 as "millionthsA",
          coalesce(sum(score_b), 0)::float8 as "millionthsB",
          count(*) filter (where failed_a)::int as "failedA", count(*) filter (where failed_b)::int as "failedB",
          count(*) filter (where score_b < score_a)::int as regressions,
          count(*) filter (where score_b > score_a)::int as improvements,
          coalesce(sum((score_b - score_a)::numeric ^ 2) - sum(score_b - score_a) ^ 2 / nullif(count(*), 0), 0)::float8 / 1e12
            as squares
          ${names.map((_, index) => `, ${evaluatorColumns(`$${index + 4}::text`, index)}`).join('')}
        from pairs where ${inBoth})
      select sums.*,
        (select count(*) from pairs where seq_b is null)::int as "onlyInA",
        (select count(*) from pairs where seq_a is null)::int as "onlyInB",
        ${changedList(`${inBoth} and score_b < score_a`)} as "regressed", ${changedList(`${inBoth} and score_b > score_a`)} as "improved",
        ${keyList('seq_b is null', 'seq_a')} as "keysA",
        ${keyList('seq_a is null', 'seq_b')} as "keysB",
        case when compared <= ${MAX_RESAMPLED_PAIRS} then
          (select coalesce(json_agg((score_b - score_a) / 1e6), '[]') from pairs where ${inBoth}) end as differences
      from sums`,
  };
}

type SumsRow = Omit<ComparisonSums, 'regressions' | 'improvements' | 'onlyInA' | 'onlyInB' | 'evaluators'> & {
  regressions: number;
  improvements: number;
  onlyInA: number;
  onlyInB: number;
  regressed: ComparisonSums['regressions']['examples'];
  improved: ComparisonSums['improvements']['examples'];
  keysA: string[];
  keysB: string[];
} & Record<`${'a' | 'b' | 'regressions' | 'improvements'}${number}`, number | null>;

const namesOf = ({ evaluators }: EvaluationRow) => evaluators.map(({ name }) => name);

/** @param query bound to the workspace of both runs */
async function readComparisonSums(query: Query, a: EvaluationRow, b: EvaluationRow): Promise<ComparisonSums> {
  const names = [...new Set([...namesOf(a), ...namesOf(b)])];
  const [row] = await query<SumsRow>(sumsStatement(names), [a.id, b.id, ...names]);
  if (row === undefined) throw new Error('An aggregate without a row.');
  return {
    ...row,
    regressions: { total: row.regressions, examples: row.regressed },
    improvements: { total: row.improvements, examples: row.improved },
    onlyInA: { total: row.onlyInA, keys: row.keysA },
    onlyInB: { total: row.onlyInB, keys: row.keysB },
    evaluators: names.map((name, index) => {
      const [inA, inB] = [namesOf(a).includes(name), namesOf(b).includes(name)];
      return {
        name,
        millionthsA: inA ? (row[`a${index}`] ?? 0) : null,
        millionthsB: inB ? (row[`b${index}`] ?? 0) : null,
        regressions: inA && inB ? (row[`regressions${index}`] ?? 0) : 0,
        improvements: inA && inB ? (row[`improvements${index}`] ?? 0) : 0,
      };
    }),
  };
}

/**
 * What changed from one completed run to another, example by example, and whether it is more than noise.
 * @throws ApiError `not_found`, `invalid_state`
 */
export function compareEvaluations(db: WorkspaceDatabase, before: string, after: string): Promise<RunComparison> {
  return db.heavy.transaction(
    async (query) => {
      const a = await getCompleted(query, before);
      const b = await getCompleted(query, after);
      const sums = await readComparisonSums(query, a, b);
      return compareSums(publicId('evaluation', a.id), publicId('evaluation', b.id), sums);
    },
    { statementTimeoutMs: TIMEOUT_MS },
  );
}
