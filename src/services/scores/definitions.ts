import { sql } from 'kysely';
import type { Query } from '../../db/database.ts';
import { lockInWorkspace } from '../../db/lock.ts';
import { now, unnestOf } from '../../db/sql.ts';
import type { Builder } from '../../db/statement.ts';
import { ApiError, invalidField, notFound } from '../../domain/errors.ts';
import { newId } from '../../domain/ids.ts';
import { MAX_SCORE_NAMES, type ScoreCategory, type ScoreDataType } from '../../domain/scores/score.ts';
import { hasValues } from '../audit/has-values.ts';
import { recordChange } from '../audit/record-change.ts';
import { namedRows, type RowIn } from '../named-rows.ts';
import { onlyType, unfitRuleOf } from './evaluator-fit.ts';
import { unfitMeanOf } from './mean-fit.ts';

const select = (db: Builder) =>
  db
    .selectFrom('score_definitions')
    .select(['name', 'data_type', 'min', 'max', 'categories', 'description', 'defined', 'created_at', 'updated_at']);

/** The allowed scores of a name; without a definition, only the type set by its first score. */
export const DEFINITIONS = namedRows({
  table: 'score_definitions',
  select,
  keys: ['name'],
  bytes: () => sql<number>`coalesce(pg_column_size(categories), 0) + coalesce(octet_length(description), 0)`,
  what: ({ name }) => `The score "${name}"`,
  json: ['categories'],
  audit: { created: 'score_definition.set', updated: 'score_definition.set', deleted: 'score_definition.deleted' },
});
export type ScoreDefinitionRow = RowIn<typeof DEFINITIONS>;

/** The allowed scores of a name, as defined by a caller. */
export interface NewScoreDefinition {
  data_type: ScoreDataType;
  min: number | null;
  max: number | null;
  categories: ScoreCategory[] | null;
  description: string | null;
}

/** The definitions of the names that are known. */
export async function findScoreDefinitions(
  query: Query,
  names: readonly string[],
): Promise<Map<string, ScoreDefinitionRow>> {
  const rows = await query((db) => select(db).where(sql<boolean>`name = any(${names}::text[])`));
  return new Map(rows.map((row) => [row.name, row]));
}

/** The error for a name without a definition or a score. */
export const unknownName = (name: string) =>
  `"${name}" has neither a definition nor a score: define it first, with PUT /score-definitions/${name}`;

/**
 * The definitions of the names, for a transaction that stores scores: their types cannot change until it ends. A new name gets
 * the given type; if that is undefined, it is omitted.
 * @throws ApiError `invalid_request` if there are too many names, or a rule could not store its scores under a new one
 */
export async function holdDefinitions(
  query: Query,
  types: ReadonlyMap<string, ScoreDataType | undefined>,
): Promise<Map<string, ScoreDefinitionRow>> {
  // In a fixed order, so that two transactions cannot deadlock.
  const names = [...types.keys()].sort();
  for (;;) {
    const rows = await query((db) =>
      select(db).where(sql<boolean>`name = any(${names}::text[])`).orderBy('name').forKeyShare(),
    );
    const known = new Map(rows.map((row) => [row.name, row]));
    const missing = new Map<string, ScoreDataType>();
    for (const name of names) {
      const type = types.get(name);
      if (type !== undefined && !known.has(name)) missing.set(name, type);
    }
    if (missing.size === 0) return known;
    const fresh = [...missing].map(([name, type]) => onlyType(name, type));
    const unfit = (await unfitRuleOf(query, fresh)) ?? (await unfitMeanOf(query, fresh));
    if (unfit !== undefined)
      throw new ApiError(
        'invalid_request',
        `The first score of a name decides its type, and ${unfit}. Define the score first, or use another name.`,
      );
    await insertNames(query, missing);
  }
}

async function insertNames(query: Query, types: ReadonlyMap<string, ScoreDataType>): Promise<void> {
  const names = [...types.keys()];
  const values = {
    id: ['uuid', names.map(() => newId())],
    name: ['text', names],
    data_type: ['text', [...types.values()]],
  } as const;
  await query((db) =>
    db
      .insertInto('score_definitions')
      .columns(['id', 'name', 'data_type', 'defined', 'created_at', 'updated_at'])
      .expression(
        db
          .selectFrom(unnestOf('given', values))
          .select(['given.id', 'given.name', sql<ScoreDataType>`given.data_type`.as('data_type')])
          .select([sql<boolean>`false`.as('defined'), now.as('created_at'), now.as('updated_at')]),
      )
      .onConflict((conflict) => conflict.columns(['workspace_id', 'name']).doNothing()),
  );
  await requireNames(query);
}

async function requireNames(query: Query): Promise<void> {
  const [row] = await query((db) =>
    db.selectFrom('score_definitions').select((eb) => eb.fn.countAll<number>().as('count')),
  );
  if ((row?.count ?? 0) > MAX_SCORE_NAMES)
    throw new ApiError('invalid_request', `A workspace can have at most ${MAX_SCORE_NAMES} score names.`);
}

/** Serializes the transactions that check whether definitions fit the rules and checks that use their names. */
export const lockRulesAndDefinitions = (query: Query) => lockInWorkspace(query, 'rules and score definitions');

async function hasScores(query: Query, name: string): Promise<boolean> {
  return (await query((db) => db.selectFrom('scores').select('id').where('name', '=', name).limit(1))).length > 0;
}

/** The field that a definition differs in. */
function fieldOf(before: ScoreDefinitionRow | undefined, { data_type, categories }: NewScoreDefinition): string {
  if (before?.data_type !== data_type) return 'data_type';
  return data_type === 'categorical' && categories !== null ? 'categories' : 'min';
}

/**
 * Defines the allowed scores of a name. Stored scores are unchanged. Runs in the caller's transaction.
 * @throws ApiError `invalid_request` if scores of another type are stored, if a rule could no longer store its scores, or if a
 * check of a monitor, policy or release could no longer compare them
 */
export async function setScoreDefinition(
  query: Query,
  name: string,
  definition: NewScoreDefinition,
): Promise<ScoreDefinitionRow> {
  await lockRulesAndDefinitions(query);
  const { data_type: type, min, max, categories } = definition;
  return DEFINITIONS.put(
    query,
    { name },
    async (before) => {
      if (before !== undefined && before.data_type !== type && (await hasScores(query, name)))
        throw invalidField(
          'data_type',
          `must be "${before.data_type}", the type of the stored scores named "${name}". Delete them first, or use another name`,
        );
      const values = { ...definition, defined: true };
      if (before === undefined || !hasValues(before, values)) {
        const unfit = await unfitRuleOf(query, [{ name, ...definition }]);
        if (unfit !== undefined) throw invalidField(fieldOf(before, definition), `would not fit a rule: ${unfit}`);
        const checked = await unfitMeanOf(query, [{ name, ...definition }]);
        if (checked !== undefined) throw invalidField('data_type', `would not fit a check: ${checked}`);
      }
      return { values, details: { data_type: type, min, max, categories: categories?.length ?? null } };
    },
    { created: () => requireNames(query) },
  );
}

/**
 * Deletes a definition: scores of this name can have any value of their type again, and any type if there are no scores.
 * @returns it as it was
 * @throws ApiError `not_found`
 */
export async function deleteScoreDefinition(query: Query, name: string): Promise<ScoreDefinitionRow> {
  const before = DEFINITIONS.found(await DEFINITIONS.lock(query, { name }), { name });
  if (!(await hasScores(query, name)))
    return DEFINITIONS.delete(query, { name }, { details: { data_type: before.data_type } });
  if (!before.defined) throw notFound(`A definition of the score "${name}"`);
  await query((db) =>
    db
      .updateTable('score_definitions')
      .set({ min: null, max: null, categories: null, description: null, defined: false, updated_at: now })
      .where('name', '=', name),
  );
  await recordChange(query, 'score_definition.deleted', name, { data_type: before.data_type });
  return before;
}
