import { type Selectable, sql } from 'kysely';
import type { Query } from '../../db/database.ts';
import { lockInWorkspace } from '../../db/lock.ts';
import { selectPage } from '../../db/read-page.ts';
import { given, now, unnestOf } from '../../db/sql.ts';
import { asJson, type Builder } from '../../db/statement.ts';
import type { Tables } from '../../db/tables.ts';
import { ApiError, invalidField, notFound } from '../../domain/errors.ts';
import { newId } from '../../domain/ids.ts';
import { MAX_SCORE_NAMES, type ScoreCategory, type ScoreDataType } from '../../domain/scores/score.ts';
import { hasValues } from '../audit/has-values.ts';
import { recordChange } from '../audit/record-change.ts';
import { onlyType, unfitRuleOf } from './evaluator-fit.ts';

const COLUMNS = [
  'name',
  'data_type',
  'min',
  'max',
  'categories',
  'description',
  'defined',
  'created_at',
  'updated_at',
] as const;
export type ScoreDefinitionRow = Pick<Selectable<Tables['score_definitions']>, (typeof COLUMNS)[number]>;

const select = (db: Builder) => db.selectFrom('score_definitions').select(COLUMNS);

/** What scores of a name may be, as a caller defines it. */
export interface NewScoreDefinition {
  data_type: ScoreDataType;
  min: number | null;
  max: number | null;
  categories: ScoreCategory[] | null;
  description: string | null;
}

/** What scores of this name may be; the type that its first score has given it, where it is not defined. @throws ApiError `not_found` */
export async function getScoreDefinition(query: Query, name: string): Promise<ScoreDefinitionRow> {
  const [row] = await query((db) => select(db).where('name', '=', name));
  if (row === undefined) throw notFound(`The score "${name}"`);
  return row;
}

/** Those of the names that are known. */
export async function findScoreDefinitions(
  query: Query,
  names: readonly string[],
): Promise<Map<string, ScoreDefinitionRow>> {
  const rows = await query((db) => select(db).where(sql<boolean>`name = any(${names}::text[])`));
  return new Map(rows.map((row) => [row.name, row]));
}

/** What is wrong with a name that nobody has said what it is. */
export const unknownName = (name: string) =>
  `"${name}" has neither a definition nor a score: define it first, with PUT /score-definitions/${name}`;

/** By name: a page of at most `limit` after the name `after`. */
export const listScoreDefinitions = (query: Query, limit: number, after: string | undefined) =>
  selectPage(
    query,
    {
      select: (db) => select(db).where((eb) => eb.and(given(after, (name) => eb('name', '>', name)))),
      orderBy: [['name', 'asc']],
      bytes: () => sql<number>`coalesce(pg_column_size(categories), 0) + coalesce(octet_length(description), 0)`,
    },
    limit,
  );

/**
 * Those of the names, for a transaction that stores scores: they keep their type until it ends. A name that is new takes the type given;
 * where that is undefined, it is left out.
 * @throws ApiError `invalid_request` where there are too many names, or a rule could not store its scores under a new one
 */
export async function holdDefinitions(
  query: Query,
  types: ReadonlyMap<string, ScoreDataType | undefined>,
): Promise<Map<string, ScoreDefinitionRow>> {
  // In one order, so that no two transactions wait for each other.
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
    const unfit = await unfitRuleOf(
      query,
      [...missing].map(([name, type]) => onlyType(name, type)),
    );
    if (unfit !== undefined)
      throw new ApiError(
        'invalid_request',
        `The first score of a name decides its type, and ${unfit}. Define the score first.`,
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

/** What fits what is decided by one transaction after the other. */
export const lockRulesAndDefinitions = (query: Query) => lockInWorkspace(query, 'rules and score definitions');

const lock = (query: Query, name: string) => query((db) => select(db).where('name', '=', name).forUpdate());

async function hasScores(query: Query, name: string): Promise<boolean> {
  return (await query((db) => db.selectFrom('scores').select('id').where('name', '=', name).limit(1))).length > 0;
}

/** The field that a definition differs in. */
function fieldOf(before: ScoreDefinitionRow | undefined, { data_type, categories }: NewScoreDefinition): string {
  if (before?.data_type !== data_type) return 'data_type';
  return data_type === 'categorical' && categories !== null ? 'categories' : 'min';
}

/**
 * Defines what scores of a name may be. Scores that are stored stay as they are. Runs in the caller's transaction.
 * @throws ApiError `invalid_request` where scores of another type are stored, or a rule could not store its scores any more
 */
export async function setScoreDefinition(
  query: Query,
  name: string,
  definition: NewScoreDefinition,
): Promise<ScoreDefinitionRow> {
  await lockRulesAndDefinitions(query);
  const [before] = await lock(query, name);
  if (before !== undefined && before.data_type !== definition.data_type && (await hasScores(query, name)))
    throw invalidField(
      'data_type',
      `must be "${before.data_type}", the type of the stored scores named "${name}". Delete them first, or use another name`,
    );
  if (before !== undefined && hasValues(before, { ...definition, defined: true })) return before;
  const unfit = await unfitRuleOf(query, [{ name, ...definition }]);
  if (unfit !== undefined) throw invalidField(fieldOf(before, definition), `would not fit a rule: ${unfit}`);
  const values = { ...definition, categories: asJson(definition.categories), defined: true, updated_at: now };
  const [row] = await query((db) =>
    db
      .insertInto('score_definitions')
      .values({ id: newId(), name, ...values, created_at: now })
      .onConflict((conflict) => conflict.columns(['workspace_id', 'name']).doUpdateSet(values))
      .returning(COLUMNS),
  );
  if (row === undefined) throw new Error('A definition was not stored.');
  if (before === undefined) await requireNames(query);
  await recordChange(query, 'score_definition.set', name, {
    data_type: row.data_type,
    min: row.min,
    max: row.max,
    categories: row.categories?.length ?? null,
  });
  return row;
}

/**
 * Deletes a definition: scores of this name may be anything of their type again. Without scores the type is free, too.
 * @returns it as it was
 * @throws ApiError `not_found`
 */
export async function deleteScoreDefinition(query: Query, name: string): Promise<ScoreDefinitionRow> {
  const [before] = await lock(query, name);
  if (before === undefined) throw notFound(`The score "${name}"`);
  const isUsed = await hasScores(query, name);
  if (!before.defined && isUsed) throw notFound(`A definition of the score "${name}"`);
  await query((db) =>
    isUsed
      ? db
          .updateTable('score_definitions')
          .set({ min: null, max: null, categories: null, description: null, defined: false, updated_at: now })
          .where('name', '=', name)
      : db.deleteFrom('score_definitions').where('name', '=', name),
  );
  await recordChange(query, 'score_definition.deleted', name, { data_type: before.data_type });
  return before;
}
