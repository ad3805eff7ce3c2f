import { type SqlBool, sql } from 'kysely';
import type { Query, WorkspaceDatabase } from '../../../db/database.ts';
import { ApiError, invalidField } from '../../../domain/errors.ts';
import {
  type ComparisonSums,
  compareSums,
  type GroupSums,
  type RunComparison,
} from '../../../domain/evaluations/comparison.ts';
import { MAX_RESAMPLED_PAIRS } from '../../../domain/evaluations/paired-difference.ts';
import { describePreference, type Preference, preferenceOf } from '../../../domain/evaluations/preference.ts';
import { overlapOf } from '../../../domain/evaluations/shared-evaluators.ts';
import { publicId } from '../../../domain/ids.ts';
import { COMPARED_WITH, laterFirst } from '../../../domain/queues/pair.ts';
import { type EvaluationRow, getEvaluation } from '../evaluations.ts';
import { type SharedScore, sharedScoreOver, sharedScoreText } from './shared-score.ts';

/** The maximum number of examples or keys listed in each group; totals count all. */
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

/** Null if there is no score. */
const MILLIONTHS = (score: string) => `round((${score} * 1000000)::numeric)::bigint`;

/** A failed example counts 0. */
const counted = (failed: string, score: string) => MILLIONTHS(`(case when ${failed} then 0 else ${score} end)`);

/** What to compare, and what to list. */
export interface ComparisonOptions {
  /** The evaluator whose scores are compared. Default: the scores of the examples. */
  evaluator?: string | undefined;
  /** Only examples whose metadata has this value, as text. */
  metadata?: { key: string; value: string } | undefined;
  /** A key of the examples' metadata: each of its values is also compared separately. */
  groupBy?: string | undefined;
  /** Whether to list examples with the same score, too. */
  unchanged?: boolean | undefined;
  /** The maximum number of examples of each kind. */
  limit?: number | undefined;
}

/** The parameter values of a statement: `$1` is the workspace. */
class Parameters {
  readonly values: unknown[] = [];
  add(value: unknown, type: string): string {
    this.values.push(value);
    return `$${this.values.length + 1}::${type}`;
  }
}

/** Values of a metadata key are truncated to this many characters. */
const GROUP_CHARACTERS = 200;
/** The maximum number of groups; the largest are kept. */
const GROUPS = 50;
/** For groups with more pairs, the interval is a normal approximation, because there may be many groups. */
const RESAMPLED_OF_GROUP = 100;

const IN_BOTH = 'seq_a is not null and seq_b is not null';
/** If an evaluator has given no score, the two scores would measure different things. */
const COMPARED = `${IN_BOTH} and score_a is not null and score_b is not null`;

/** The examples of one run; `nth` numbers those with the same key. */
function examplesOf(
  parameters: Parameters,
  id: string,
  shared: SharedScore | null,
  { evaluator, metadata, groupBy }: ComparisonOptions,
): string {
  const score =
    evaluator !== undefined
      ? `(r.scores->${parameters.add(evaluator, 'text')}->>'score')::float8`
      : shared === null
        ? 'r.score'
        : sharedScoreText('r.scores', shared, (value, type) => parameters.add(value, type));
  const metadataValue = (key: string) => `left(d.metadata->>${parameters.add(key, 'text')}, ${GROUP_CHARACTERS})`;
  const needsMetadata = metadata !== undefined || groupBy !== undefined;
  // raw SQL: a full join of the runs, which the builder refuses in a workspace.
  return `
  select r.seq, r.example_key as key, ${counted(`r.status = 'failed'`, score)} as score, r.status = 'failed' as failed, r.scores,
    ${metadata === undefined ? 'null' : metadataValue(metadata.key)} as wanted, ${groupBy === undefined ? 'null' : metadataValue(groupBy)} as value,
    row_number() over (partition by r.example_key order by r.seq) as nth
  from evaluations e join evaluation_results r on r.evaluation_id = e.id
    ${needsMetadata ? 'left join dataset_examples d on d.dataset_version_id = e.examples_id and d.seq = r.seq and d.workspace_id = e.workspace_id' : ''}
  where e.workspace_id = $1 and e.id = ${parameters.add(id, 'uuid')}`;
}

const changedList = (condition: string, limit: number) => `
  (select coalesce(json_agg(json_build_object('key', key, 'seq_a', seq_a, 'seq_b', seq_b, 'score_a', score_a / 1e6, 'score_b', score_b / 1e6,
       'difference', (score_b - score_a) / 1e6, 'failed_a', failed_a, 'failed_b', failed_b)), '[]')
   from (select * from pairs where ${condition} order by abs(score_b - score_a) desc, seq_a limit ${limit}) as changed)`;
const keyList = (condition: string, order: string) => `
  (select coalesce(json_agg(key), '[]') from (select key from pairs where ${condition} order by ${order} limit ${LISTED}) as keys)`;

/** Sums of pairs, under the names used in the domain. */
const PAIR_SUMS = `count(*)::int as compared, coalesce(sum(score_a), 0)::float8 as "millionthsA",
  coalesce(sum(score_b), 0)::float8 as "millionthsB",
  count(*) filter (where score_b < score_a)::int as regressions,
  count(*) filter (where score_b > score_a)::int as improvements,
  coalesce(sum((score_b - score_a)::numeric ^ 2) - sum(score_b - score_a) ^ 2 / nullif(count(*), 0), 0)::float8 / 1e12 as squares`;

/** Sums of one evaluator, whose name is `parameter`, over the examples that it has scored in every run that has it. */
function evaluatorColumns(parameter: string, index: number, { inA, inB }: { inA: boolean; inB: boolean }): string {
  const score = (run: string) => counted(`failed_${run}`, `(scores_${run}->${parameter}->>'score')::float8`);
  const isScored = [...(inA ? [score('a')] : []), ...(inB ? [score('b')] : [])].map((own) => `${own} is not null`);
  const scored = `filter (where ${isScored.join(' and ')})`;
  return `count(*) ${scored}::int as "compared${index}",
    sum(${score('a')}) ${scored}::float8 as "a${index}", sum(${score('b')}) ${scored}::float8 as "b${index}",
    count(*) filter (where ${score('b')} < ${score('a')})::int as "regressions${index}",
    count(*) filter (where ${score('b')} > ${score('a')})::int as "improvements${index}"`;
}

const GROUP_COLUMNS = `,
  (select count(distinct coalesce('=' || value, ''))::int from pairs where ${COMPARED}) as "groupCount",
  (select coalesce(json_agg(each), '[]') from (
     select value, ${PAIR_SUMS},
       case when count(*) <= ${RESAMPLED_OF_GROUP} then json_agg((score_b - score_a) / 1e6) end as differences
     from pairs where ${COMPARED} group by value order by count(*) desc, value limit ${GROUPS}) as each) as groups`;

interface ComparedRuns {
  a: string;
  b: string;
  /** The evaluators of both runs, and which run has them. */
  evaluators: readonly { name: string; inA: boolean; inB: boolean }[];
  shared: SharedScore | null;
}

/**
 * One statement over pairs of examples. Its memory is bounded and used on the server, which spills to disk. If several examples
 * have the same key, the first is paired with the first, and so on.
 */
function sumsStatement(
  { a, b, evaluators, shared }: ComparedRuns,
  options: ComparisonOptions,
): { text: string; values: unknown[] } {
  const { metadata, groupBy, unchanged = false, limit = LISTED } = options;
  const parameters = new Parameters();
  const [examplesA, examplesB] = [a, b].map((id) => examplesOf(parameters, id, shared, options));
  const wanted =
    metadata === undefined
      ? ''
      : `where coalesce(b.wanted, a.wanted) = left(${parameters.add(metadata.value, 'text')}, ${GROUP_CHARACTERS})`;
  const columns = evaluators.map(
    ({ name, ...runs }, index) => `, ${evaluatorColumns(parameters.add(name, 'text'), index, runs)}`,
  );
  return {
    values: parameters.values,
    // raw SQL: see above.
    text: `with a as (${examplesA}), b as (${examplesB}),
      pairs as materialized (
        select coalesce(a.key, b.key) as key, a.seq as seq_a, b.seq as seq_b, a.score as score_a, b.score as score_b,
          a.failed as failed_a, b.failed as failed_b, a.scores as scores_a, b.scores as scores_b,
          coalesce(b.value, a.value) as value
        from a full join b on a.key = b.key and a.nth = b.nth ${wanted}),
      sums as (
        select ${PAIR_SUMS},
          count(*) filter (where failed_a)::int as "failedA", count(*) filter (where failed_b)::int as "failedB"
          ${columns.join('')}
        from pairs where ${COMPARED})
      select sums.*,
        (select count(*) from pairs where ${IN_BOTH} and (score_a is null or score_b is null))::int as "unscored",
        (select count(*) from pairs where seq_b is null)::int as "onlyInA",
        (select count(*) from pairs where seq_a is null)::int as "onlyInB",
        ${changedList('score_b < score_a', limit)} as "regressed",
        ${changedList('score_b > score_a', limit)} as "improved",
        ${unchanged ? `${changedList('score_b = score_a', limit)} as "unchangedExamples",` : ''}
        ${keyList('seq_b is null', 'seq_a')} as "keysA",
        ${keyList('seq_a is null', 'seq_b')} as "keysB",
        case when compared <= ${MAX_RESAMPLED_PAIRS} then
          (select coalesce(json_agg((score_b - score_a) / 1e6), '[]') from pairs where ${COMPARED}) end as differences
        ${groupBy === undefined ? '' : GROUP_COLUMNS}
      from sums`,
  };
}

type SumsRow = Omit<
  ComparisonSums,
  'comparable' | 'leftOut' | 'regressions' | 'improvements' | 'onlyInA' | 'onlyInB' | 'evaluators' | 'groups'
> & {
  groups?: GroupSums[];
  groupCount?: number;
  regressions: number;
  improvements: number;
  onlyInA: number;
  onlyInB: number;
  regressed: ComparisonSums['regressions']['examples'];
  improved: ComparisonSums['improvements']['examples'];
  keysA: string[];
  keysB: string[];
} & Record<`${'compared' | 'a' | 'b' | 'regressions' | 'improvements'}${number}`, number | null>;

const namesOf = ({ evaluators }: EvaluationRow) => evaluators.map(({ name }) => name);

/** @param query bound to the workspace of both runs */
async function readComparisonSums(
  query: Query,
  a: EvaluationRow,
  b: EvaluationRow,
  options: ComparisonOptions,
): Promise<ComparisonSums> {
  const evaluators = [...new Set([...namesOf(a), ...namesOf(b)])].map((name) => ({
    name,
    inA: namesOf(a).includes(name),
    inB: namesOf(b).includes(name),
  }));
  const overlap = overlapOf(a.evaluators, b.evaluators);
  const { evaluator } = options;
  const shared = sharedScoreOver(overlap, a, b);
  const comparable =
    evaluator === undefined ? shared !== undefined : overlap.shared.some(({ name }) => name === evaluator);
  const { text, values } = sumsStatement({ a: a.id, b: b.id, evaluators, shared: shared ?? null }, options);
  const [row] = await query<SumsRow>({ text }, values);
  if (row === undefined) throw new Error('An aggregate without a row.');
  const { groups, groupCount, ...sums } = row;
  return {
    ...sums,
    comparable,
    leftOut: overlap.leftOut.filter(({ name }) => evaluator === undefined || name === evaluator),
    regressions: { total: row.regressions, examples: row.regressed },
    improvements: { total: row.improvements, examples: row.improved },
    onlyInA: { total: row.onlyInA, keys: row.keysA },
    onlyInB: { total: row.onlyInB, keys: row.keysB },
    ...(groups && { groups: { total: groupCount ?? groups.length, sums: groups } }),
    evaluators: evaluators.map(({ name, inA, inB }, index) => {
      return {
        name,
        compared: row[`compared${index}`] ?? 0,
        millionthsA: inA ? (row[`a${index}`] ?? 0) : null,
        millionthsB: inB ? (row[`b${index}`] ?? 0) : null,
        regressions: inA && inB ? (row[`regressions${index}`] ?? 0) : 0,
        improvements: inA && inB ? (row[`improvements${index}`] ?? 0) : 0,
      };
    }),
  };
}

/** @throws ApiError `invalid_request` if one of the runs has no such evaluator */
function checkEvaluator(evaluator: string | undefined, runs: readonly EvaluationRow[]): void {
  if (evaluator === undefined) return;
  const [first = [], ...others] = runs.map(namesOf);
  const common = first.filter((name) => others.every((names) => names.includes(name)));
  if (!common.includes(evaluator))
    throw invalidField(
      'evaluator',
      common.length === 0
        ? 'must be omitted: the runs have no evaluator in common'
        : `must be an evaluator of both runs: ${common.join(', ')}`,
    );
}

/**
 * What changed from one completed run to another, example by example, and whether the difference is significant.
 * @throws ApiError `not_found`, `invalid_state`, `invalid_request`
 */
export function compareEvaluations(
  db: WorkspaceDatabase,
  before: string,
  after: string,
  options: ComparisonOptions = {},
): Promise<RunComparison> {
  return db.heavy.transaction(
    async (query) => {
      const a = await getCompleted(query, before);
      const b = await getCompleted(query, after);
      checkEvaluator(options.evaluator, [a, b]);
      const sums = await readComparisonSums(query, a, b, options);
      const comparison = compareSums(publicId('evaluation', a.id), publicId('evaluation', b.id), sums);
      const preferences = [
        ...(await readPreferences(query, comparison.a, b)),
        ...(await readPeoplesPreferences(query, a.id, b.id)),
      ];
      if (preferences.length === 0) return comparison;
      const note = [comparison.note, ...preferences.map(describePreference)].join(' ');
      return { ...comparison, note, preferences };
    },
    { statementTimeoutMs: TIMEOUT_MS },
  );
}

/** What judges of a run say about its outputs beside those of another run. @param other public id */
async function readPreferences(query: Query, other: string, run: EvaluationRow): Promise<Preference[]> {
  const found: (Preference | undefined)[] = [];
  for (const config of run.evaluators) {
    if (config.type !== 'pairwise' || config.against !== other) continue;
    const counts = await query((db) =>
      db
        .selectFrom('evaluations as e')
        .innerJoin('evaluation_results as r', 'r.evaluation_id', 'e.id')
        .select([
          sql<number>`(${sql.ref('r.scores')}->${config.name}::text->>'score')::float8`.as('given'),
          sql<number>`count(*)::int`.as('count'),
        ])
        .where('e.id', '=', run.id)
        .where('r.status', '=', 'scored')
        .where(sql<SqlBool>`${sql.ref('r.scores')}->${config.name}::text->>'score' is not null`)
        .groupBy('given')
        .orderBy('given'),
    );
    found.push(
      preferenceOf(
        config.name,
        counts.map(({ given, count }) => ({ score: given, count })),
      ),
    );
  }
  return found.filter((preference) => preference !== undefined);
}

/** The number of examples by a score of people, for each name. */
async function readPeoplesPreferences(query: Query, a: string, b: string): Promise<Preference[]> {
  const [later, earlier] = laterFirst([a, b]);
  const rows = await query((db) =>
    db
      .selectFrom((eb) =>
        eb
          .selectFrom('scores')
          .select(['name', sql<number>`avg(number)`.as('value'), sql<number>`count(*)::int`.as('answers')])
          .where('evaluation_id', '=', later)
          .where('source', '=', 'person')
          .where('number', '>=', 0)
          .where('number', '<=', 1)
          .where(sql<SqlBool>`metadata->>${COMPARED_WITH}::text = ${publicId('evaluation', earlier)}`)
          .groupBy(['name', 'example_id'])
          .as('each'),
      )
      .select(['name', 'value', sql<number>`count(*)::int`.as('count'), sql<number>`sum(answers)::int`.as('answers')])
      .groupBy(['name', 'value'])
      .orderBy('name')
      .orderBy('value'),
  );
  return [...Map.groupBy(rows, ({ name }) => name)].flatMap(([name, each]) => {
    const counts = each.map(({ value, count }) => ({ score: later === b ? value : 1 - value, count }));
    return (
      preferenceOf(
        name,
        counts,
        each.reduce((sum, { answers }) => sum + answers, 0),
      ) ?? []
    );
  });
}

/** The number of first examples whose metadata keys are collected. */
const EXAMPLES_WITH_KEYS = 200;
const METADATA_KEYS = 50;

/** The keys of the metadata of a run's first examples. None once its dataset was deleted. */
export async function metadataKeysOf(query: Query, evaluationId: string): Promise<string[]> {
  const rows = await query((db) =>
    db
      .selectFrom((eb) =>
        eb
          .selectFrom('evaluations as e')
          .innerJoin('dataset_examples as d', 'd.dataset_version_id', 'e.examples_id')
          .where('e.id', '=', evaluationId)
          .where('d.seq', '<', EXAMPLES_WITH_KEYS)
          .where('d.metadata', 'is not', null)
          .select(sql<string>`jsonb_object_keys(${sql.ref('d.metadata')})`.as('key'))
          .as('keys'),
      )
      .select('key')
      .distinct()
      .orderBy('key')
      .limit(METADATA_KEYS),
  );
  return rows.map(({ key }) => key);
}
