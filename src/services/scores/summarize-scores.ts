import { type Expression, type SqlBool, sql } from 'kysely';
import type { Query } from '../../db/database.ts';
import { given } from '../../db/sql.ts';
import type { Builder } from '../../db/statement.ts';
import { invalidField } from '../../domain/errors.ts';
import type { Arm } from '../../domain/releases/rollout.ts';
import type { ScoreDataType, ScoreSource } from '../../domain/scores/score.ts';
import { hasSubject } from './scores.ts';

/** The fields that scores can be grouped by, in addition to their name. */
export const SCORE_GROUPS = ['prompt', 'version', 'label', 'arm', 'day'] as const;
export type ScoreGroup = (typeof SCORE_GROUPS)[number];

const COLUMNS_OF: Record<
  Exclude<ScoreGroup, 'day'>,
  readonly ('prompt_name' | 'prompt_version' | 'label' | 'release_id' | 'arm')[]
> = {
  prompt: ['prompt_name'],
  version: ['prompt_version'],
  label: ['label'],
  arm: ['release_id', 'arm'],
};
const DAY = sql<string>`to_char(subject_at at time zone 'UTC', 'YYYY-MM-DD')`;

export interface SummaryFilter {
  name?: string | undefined;
  promptName?: string | undefined;
  source?: ScoreSource | undefined;
  rule?: string | undefined;
  /** The subjects were created at or after this time, */
  since: Date;
  /** and before this time. */
  until: Date;
}

/** The maximum number of groups of a summary, and of categories in them. */
export const MAX_GROUPS = 10_000;
/** The maximum number of categories shown for a group: the most frequent ones. */
const MAX_CATEGORIES = 100;

/** The grouping of a summary; columns that were not requested are missing. */
interface Group {
  name: string;
  data_type: ScoreDataType;
  prompt_name?: string | null;
  prompt_version?: number | null;
  label?: string | null;
  release_id?: string | null;
  arm?: Arm | null;
  day?: string;
}

export interface ScoreSummary extends Group {
  n: number;
  /** For numbers. */
  mean: number | null;
  /** For booleans. */
  share_true: number | null;
  /** The count of each category. */
  categories: Record<string, number> | null;
}

function select(
  db: Builder,
  { name, promptName, source, rule, since, until }: SummaryFilter,
  groups: readonly ScoreGroup[],
) {
  const columns = groups.flatMap((group) => (group === 'day' ? [] : COLUMNS_OF[group]));
  let sums = db
    .selectFrom('scores')
    .select(['name', 'data_type', ...columns])
    .where((eb) => {
      const conditions: Expression<SqlBool>[] = [
        hasSubject(eb),
        eb('subject_at', '>=', since),
        eb('subject_at', '<', until),
        // A score is stored after its subject, and this has an index.
        eb('created_at', '>=', since),
      ];
      return eb.and([
        ...conditions,
        ...given(name, (value) => eb('name', '=', value)),
        ...given(promptName, (value) => eb('prompt_name', '=', value)),
        ...given(source, (value) => eb('source', '=', value)),
        ...given(rule, (value) => eb('rule', '=', value)),
      ]);
    })
    .groupBy(['name', 'data_type', ...columns])
    .orderBy('name')
    .orderBy('data_type');
  for (const column of columns) sums = sums.orderBy(column);
  return groups.includes('day') ? sums.select(DAY.as('day')).groupBy(DAY).orderBy(DAY) : sums;
}

const keyOf = (row: Group) =>
  JSON.stringify([
    row.name,
    row.data_type,
    row.prompt_name,
    row.prompt_version,
    row.label,
    row.release_id,
    row.arm,
    row.day,
  ]);

/**
 * Counts, means, shares and categories of scores by name and by the requested groups.
 * @throws ApiError `invalid_request` if there are too many groups
 */
export async function summarizeScores(
  query: Query,
  filter: SummaryFilter,
  groups: readonly ScoreGroup[],
): Promise<ScoreSummary[]> {
  const sums = await query((db) =>
    select(db, filter, groups)
      .select([sql<number>`count(*)::int`.as('n'), sql<number | null>`avg(number)`.as('average')])
      .limit(MAX_GROUPS + 1),
  );
  const counts = await query((db) =>
    select(db, filter, groups)
      .select(['text', sql<number>`count(*)::int`.as('n')])
      .where('data_type', '=', 'categorical')
      .groupBy('text')
      .limit(MAX_GROUPS + 1),
  );
  if (sums.length > MAX_GROUPS || counts.length > MAX_GROUPS)
    throw invalidField(
      'group_by',
      `results in more than ${MAX_GROUPS} groups: use fewer fields, a shorter period, or a name`,
    );
  const categories = Map.groupBy(counts, keyOf);
  return sums.map(({ n, average, ...group }) => {
    const { data_type: type } = group;
    const most = (categories.get(keyOf(group)) ?? []).toSorted((a, b) => b.n - a.n).slice(0, MAX_CATEGORIES);
    return {
      ...group,
      n,
      mean: type === 'numeric' ? average : null,
      share_true: type === 'boolean' ? average : null,
      categories:
        type === 'categorical' ? Object.fromEntries(most.map(({ text, n: count }) => [text ?? '', count])) : null,
    };
  });
}
