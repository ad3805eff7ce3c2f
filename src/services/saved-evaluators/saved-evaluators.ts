import { sql } from 'kysely';
import type { Query, WorkspaceDatabase } from '../../db/database.ts';
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

export const SAVED_EVALUATORS = namedRows({
  table: 'saved_evaluators',
  select: (db: Builder) =>
    db
      .selectFrom('saved_evaluators')
      .select(['name', 'description', 'created_at', 'updated_at'])
      .select(sql<StoredVersion[]>`versions`.as('versions')),
  keys: ['name'],
  bytes: () => sql<number>`pg_column_size(versions)`,
  what: ({ name }) => `The saved evaluator "${name}"`,
  json: ['versions'],
  audit: { created: 'saved_evaluator.set', updated: 'saved_evaluator.set', deleted: 'saved_evaluator.deleted' },
});
export type SavedEvaluatorRow = RowIn<typeof SAVED_EVALUATORS>;

/**
 * Stores an evaluator under a name. With other options than the newest version it is a new version; what uses an older one keeps that.
 * @throws ApiError `quota_exceeded`
 */
export const setSavedEvaluator = (
  db: WorkspaceDatabase,
  name: string,
  { evaluator, description }: { evaluator: EvaluatorConfig; description: string | null },
): Promise<SavedEvaluatorRow> =>
  db.transaction((query) =>
    SAVED_EVALUATORS.put(
      query,
      { name },
      (before) => {
        const versions = withVersion(name, before?.versions ?? [], { ...evaluator, name, saved_version: undefined });
        return { values: { description, versions: asStored(versions) }, details: { version: versions.length } };
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

function withVersion(name: string, before: readonly StoredVersion[], evaluator: EvaluatorConfig): StoredVersion[] {
  const newest = before.at(-1)?.evaluator;
  const isSame =
    newest !== undefined &&
    newest.weight === evaluator.weight &&
    evaluatorVersion(newest) === evaluatorVersion(evaluator);
  if (isSame) return [...before];
  const versions = [...before, { evaluator, created_at: new Date().toISOString() }];
  if (versions.length > MAX_SAVED_VERSIONS || Buffer.byteLength(JSON.stringify(versions)) > MAX_VERSIONS_BYTES)
    throw new ApiError(
      'quota_exceeded',
      `"${name}" has too many versions: it can have ${MAX_SAVED_VERSIONS}, of ${MAX_VERSIONS_BYTES / 1024} KiB together. Save this one under another name.`,
    );
  return versions;
}

/** Without options that are undefined. */
const asStored = (versions: readonly StoredVersion[]): JsonValue => JSON.parse(JSON.stringify(versions));

/** A version; default: the newest. @throws ApiError `not_found` */
export function versionOf({ name, versions }: SavedEvaluatorRow, version = versions.length) {
  const found = versions[version - 1];
  if (found === undefined) throw notFound(`Version ${version} of the saved evaluator "${name}"`);
  return { ...found, version };
}

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
  const names = given.flatMap(({ type, name }) => (type === 'saved' ? [name] : []));
  const rows =
    names.length === 0
      ? []
      : await query((db) =>
          db
            .selectFrom('saved_evaluators')
            .select(['name', sql<StoredVersion[]>`versions`.as('versions')])
            .where('name', 'in', names),
        );
  return given.map((config, index) => {
    if (config.type !== 'saved') return config;
    const { name, version, weight } = config;
    const versions = rows.find((row) => row.name === name)?.versions;
    if (versions === undefined) throw invalidField(`${at}.${index}.name`, 'is not a saved evaluator of this workspace');
    const number = version ?? versions.length;
    const found = versions[number - 1];
    if (found === undefined)
      throw invalidField(
        `${at}.${index}.version`,
        `must be at most ${versions.length}, the newest version of "${name}"`,
      );
    return { ...found.evaluator, weight: weight ?? found.evaluator.weight, saved_version: number };
  });
}
