import { type Expression, sql } from 'kysely';
import type { Query, WorkspaceDatabase } from '../../db/database.ts';
import { unnestOf } from '../../db/sql.ts';
import type { Builder } from '../../db/statement.ts';
import { ApiError, invalidField, notFound } from '../../domain/errors.ts';
import type { JsonValue } from '../../domain/text/json.ts';
import { MAX_SAVED_VERSIONS } from '../../evaluators/fields.ts';
import type { EvaluatorConfig, GivenEvaluator } from '../../evaluators/registry.ts';
import { evaluatorVersion } from '../../evaluators/version.ts';
import { namedRows, type RowIn } from '../named-rows.ts';
import { requireRoom } from '../workspaces/quotas.ts';

/** The maximum number of saved evaluators in a workspace. */
const MAX_SAVED = 200;
/** The maximum size of all versions of one, as JSON. */
const MAX_VERSIONS_BYTES = 512 * 1024;

/** A version of a saved evaluator, as stored. */
interface StoredVersion {
  evaluator: EvaluatorConfig;
  created_at: string;
}

/** One version of a row, not all of them: together they can be large. @param wanted null for the newest */
const versionIn = (wanted: Expression<number | null>) => {
  const count = sql<number>`jsonb_array_length(versions)`;
  const version = sql<number>`coalesce(${wanted}, ${count})`;
  return [
    count.as('count'),
    version.as('version'),
    sql<StoredVersion | null>`versions -> (${version} - 1)`.as('stored'),
  ] as const;
};

const select = (db: Builder, version: number | null = null) =>
  db
    .selectFrom('saved_evaluators')
    .select(['name', 'description', 'created_at', 'updated_at'])
    .select(versionIn(sql<number | null>`${version}::int`));

/** The saved evaluators of a workspace, each with its newest version. */
export const SAVED_EVALUATORS = namedRows({
  table: 'saved_evaluators',
  select: (db: Builder) => select(db),
  keys: ['name'],
  bytes: () => sql<number>`octet_length(stored::text)`,
  what: ({ name }) => `The saved evaluator "${name}"`,
  json: ['versions'],
  audit: { created: 'saved_evaluator.set', updated: 'saved_evaluator.set', deleted: 'saved_evaluator.deleted' },
});
export type SavedEvaluatorRow = RowIn<typeof SAVED_EVALUATORS>;

/** A saved evaluator with one of its versions. @throws ApiError `not_found` */
export async function getSavedEvaluator(
  query: Query,
  name: string,
  version: number | undefined,
): Promise<SavedEvaluatorRow> {
  if (version === undefined) return SAVED_EVALUATORS.get(query, { name });
  const [row] = await query((db) => select(db, version).where('name', '=', name));
  const found = SAVED_EVALUATORS.found(row, { name });
  if (found.stored === null) throw notFound(`Version ${version} of the saved evaluator "${name}"`);
  return found;
}

/**
 * Stores an evaluator under a name. With other options than the newest version it is a new version; what uses an older one keeps that.
 * @throws ApiError `quota_exceeded`
 */
export const setSavedEvaluator = (
  db: WorkspaceDatabase,
  name: string,
  { evaluator: given, description }: { evaluator: EvaluatorConfig; description: string | null },
): Promise<SavedEvaluatorRow> =>
  db.transaction((query) =>
    SAVED_EVALUATORS.put(
      query,
      { name },
      async (before) => {
        const evaluator = { ...given, name, saved_version: undefined };
        const isSame = before?.stored != null && isUnchanged(before.stored.evaluator, evaluator);
        const versions = await readVersions(query, name);
        if (!isSame) versions.push({ evaluator, created_at: new Date().toISOString() });
        requireRoomFor(name, versions);
        const details = { version: versions.length };
        return { values: { description }, besides: { versions: asStored(versions) }, isSame, details };
      },
      {
        created: () =>
          requireRoom(
            query,
            'saved_evaluators',
            MAX_SAVED,
            `A workspace can have at most ${MAX_SAVED} saved evaluators: delete one of them first.`,
          ),
      },
    ),
  );

/** Whether a version would be the same, also in its weight. */
const isUnchanged = (newest: EvaluatorConfig, evaluator: EvaluatorConfig) =>
  newest.weight === evaluator.weight && evaluatorVersion(newest) === evaluatorVersion(evaluator);

async function readVersions(query: Query, name: string): Promise<StoredVersion[]> {
  const [row] = await query((db) =>
    db.selectFrom('saved_evaluators').select(sql<StoredVersion[]>`versions`.as('versions')).where('name', '=', name),
  );
  return row?.versions ?? [];
}

function requireRoomFor(name: string, versions: readonly StoredVersion[]): void {
  if (versions.length > MAX_SAVED_VERSIONS || Buffer.byteLength(JSON.stringify(versions)) > MAX_VERSIONS_BYTES)
    throw new ApiError(
      'quota_exceeded',
      `"${name}" has too many versions: it can have ${MAX_SAVED_VERSIONS}, of ${MAX_VERSIONS_BYTES / 1024} KiB together. Save this one under another name.`,
    );
}

/** Without options that are undefined. */
const asStored = (versions: readonly StoredVersion[]): JsonValue => JSON.parse(JSON.stringify(versions));

/**
 * Replaces names of saved evaluators by their options. What stores the result keeps these options, whatever is saved later.
 * @param query bound to the workspace
 * @param at path of the evaluators in the request
 * @throws ApiError `invalid_request` if one does not exist
 */
export async function withSavedOptions(
  query: Query,
  given: readonly GivenEvaluator[],
  at: string,
): Promise<EvaluatorConfig[]> {
  const named = given.flatMap((config) => (config.type === 'saved' ? [config] : []));
  if (named.length === 0) return given.filter((config) => config.type !== 'saved');
  const asked = unnestOf('asked', {
    name: ['text', named.map(({ name }) => name)],
    wanted: ['integer', named.map(({ version = null }) => version)],
  });
  const rows = await query((db) =>
    db
      .selectFrom('saved_evaluators as s')
      .innerJoin(asked, (join) => join.onRef('asked.name', '=', 's.name'))
      .select('s.name')
      .select(versionIn(sql<number | null>`asked.wanted`)),
  );
  return given.map((config, index) => {
    if (config.type !== 'saved') return config;
    const row = rows.find(({ name }) => name === config.name);
    if (row === undefined) throw invalidField(`${at}.${index}.name`, 'is not a saved evaluator of this workspace');
    const { stored, version, count } = row;
    if (stored === null)
      throw invalidField(`${at}.${index}.version`, `must be at most ${count}, the newest version of "${config.name}"`);
    const { evaluator } = stored;
    return { ...evaluator, weight: config.weight ?? evaluator.weight, saved_version: version };
  });
}
