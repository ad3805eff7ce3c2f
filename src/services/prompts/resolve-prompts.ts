import { createHash } from 'node:crypto';
import { sql } from 'kysely';
import type { Query, WorkspaceDatabase } from '../../db/database.ts';
import { MAX_PAGE_BYTES } from '../../db/read-page.ts';
import { unnestOf } from '../../db/sql.ts';
import { prepared, type RowOf } from '../../db/statement.ts';
import { type ApiError, invalidField } from '../../domain/errors.ts';
import type { IncludeRef, IncludeSet } from '../../domain/prompts/prompt-content.ts';
import type { Rollout } from '../../domain/releases/rollout.ts';
import { walkIncludes } from './include-walk.ts';
import { includesProblem } from './includes.ts';
import { type FoundPromptRow, missing, rolloutOf, selectPrompts, type VersionSelector } from './prompts.ts';

/** The maximum number of references that one statement resolves, including those of includes. Further prompts are left to the next request. */
const MAX_WALKED = 1_000;

/** A requested version, and what the caller already has of it. */
export interface WantedVersion extends VersionSelector {
  name: string;
  knownVersion?: number | undefined;
  /** The `includesHash` of the caller's copy. */
  knownIncludes?: string | undefined;
}

/** The result for a requested version. */
export type ResolvedVersion =
  | { prompt: FoundPromptRow; includes: IncludeSet; includesHash: string | null }
  /** With the release of the label, if any. */
  | { unchanged: Rollout | null }
  /** It would make the response too large. */
  | 'left out'
  | ApiError;

const LOCATE = prepared<{
  indexes: number[];
  names: string[];
  versions: (number | null)[];
  labels: (string | null)[];
}>()((db, { indexes, names, versions, labels }) =>
  db
    .selectFrom(
      unnestOf('wanted', {
        index: ['integer', indexes],
        name: ['text', names],
        version: ['integer', versions],
        label: ['text', labels],
      }),
    )
    .leftJoin('prompts as p', (join) => join.onRef('p.name', '=', 'wanted.name'))
    .leftJoin('prompt_versions as v', (join) =>
      join.onRef('v.prompt_id', '=', 'p.id').on('v.version', '=', (eb) =>
        eb
          .case()
          .when('wanted.version', 'is not', null)
          .then(eb.ref('wanted.version'))
          .when(sql<boolean>`coalesce(${eb.ref('wanted.label')}, 'latest') = 'latest'`)
          .then(eb.ref('p.latest_version'))
          .else(
            eb
              .selectFrom('prompt_labels as l')
              .select('l.version')
              .whereRef('l.prompt_id', '=', 'p.id')
              .whereRef('l.label', '=', 'wanted.label'),
          )
          .end(),
      ),
    )
    .leftJoin('prompt_labels as at', (join) =>
      join.onRef('at.prompt_id', '=', 'p.id').onRef('at.label', '=', 'wanted.label'),
    )
    .select(rolloutOf('at'))
    .select(['wanted.index', 'p.id as prompt_id', 'v.id', 'v.version', 'v.include_refs'])
    .select(sql<number>`coalesce(v.bytes, 0) + coalesce(octet_length(p.description), 0)`.as('bytes'))
    .select(sql<boolean>`v.template is not null`.as('isText')),
);
type Located = RowOf<typeof LOCATE>;

const WALK = prepared<{ refs: string[]; limit: number }>()((db, { refs, limit }) =>
  walkIncludes(db, refs)
    .with('reached', (cte) => cte.selectFrom('walk').select(['ref', 'version_id']).limit(limit))
    .selectFrom('reached')
    .leftJoin('prompt_versions as v', 'v.id', 'reached.version_id')
    .leftJoin('prompts as p', 'p.id', 'v.prompt_id')
    .select(['reached.ref', 'v.id', 'p.name', 'p.archived_at', 'v.version', 'v.include_refs'])
    .select(sql<boolean>`v.template is not null`.as('isText'))
    .select(sql<number>`coalesce(octet_length(v.template), 0)`.as('bytes')),
);
type Walked = RowOf<typeof WALK>;

const READ = prepared<{ ids: string[] }>()((db, { ids }) =>
  selectPrompts(db).select('v.id as version_id').where(sql<boolean>`v.id = any(${ids}::uuid[])`),
);

const READ_TEMPLATES = prepared<{ ids: string[] }>()((db, { ids }) =>
  db.selectFrom('prompt_versions as v').select(['v.id', 'v.template']).where(sql<boolean>`v.id = any(${ids}::uuid[])`),
);

/**
 * Reads versions of many prompts, each with everything that it includes, in a constant number of statements. A version that the
 * caller has is not read: its number and, if it has includes, their hash match the caller's copy. Versions that would make the
 * response larger than a page are left out, but never the first.
 *
 * @returns a result for each, in their order: an {@link ApiError} is `not_found`, or `invalid_request` if a run would be refused
 * because of an include
 */
export async function resolvePrompts(
  db: WorkspaceDatabase,
  wanted: readonly WantedVersion[],
): Promise<ResolvedVersion[]> {
  const { query } = db;
  const located = await locate(query, wanted);
  const withIncludes = located.filter((row) => (row.include_refs?.length ?? 0) > 0);
  const { byRef, covered } = await walk(query, withIncludes);
  const known = new Map<Located, ReturnType<typeof reachedFrom>>(
    withIncludes.slice(0, covered).map((row) => [row, reachedFrom(row.include_refs ?? [], byRef)]),
  );

  const results: ResolvedVersion[] = [];
  const toRead: { index: number; row: Located; includes: Walked[]; includesHash: string | null }[] = [];
  let bytes = 0;
  for (const [index, want] of wanted.entries()) {
    const row = located[index];
    if (row === undefined || row.id === null) {
      results.push(missing(want.name, want, row !== undefined && row.prompt_id !== null));
      continue;
    }
    const refs = row.include_refs ?? [];
    const includes = refs.length === 0 ? [] : known.get(row);
    results.push('left out');
    if (includes === undefined) continue;
    const includedBytes = includes.reduce((sum, include) => sum + include.bytes, 0);
    const problem = includesProblem(refs, byRef, { count: includes.length, bytes: includedBytes });
    const includesHash = refs.length === 0 ? null : hashOf(includes);
    if (problem !== undefined) results[index] = invalidField(row.isText ? 'template' : 'messages', problem);
    else if (want.knownVersion === row.version && (refs.length === 0 || want.knownIncludes === includesHash))
      results[index] = { unchanged: row.rollout };
    else if (toRead.length === 0 || bytes + row.bytes + includedBytes <= MAX_PAGE_BYTES) {
      bytes += row.bytes + includedBytes;
      toRead.push({ index, row, includes, includesHash });
    }
  }
  if (toRead.length === 0) return results;

  const prompts = await query(READ, { ids: toRead.map(({ row }) => row.id ?? '') });
  const promptById = new Map(prompts.map((prompt) => [prompt.version_id, prompt]));
  const templates = await readTemplates(
    query,
    toRead.flatMap(({ includes }) => includes),
  );
  for (const { index, row, includes, includesHash } of toRead) {
    const prompt = promptById.get(row.id ?? '');
    if (prompt === undefined) continue;
    results[index] = {
      prompt: { ...prompt, rollout: row.rollout },
      includes: Object.fromEntries(
        includes.map(({ ref, id, name, version }) => [
          ref,
          { name: name ?? '', version: version ?? 0, template: templates.get(id ?? '') ?? '' },
        ]),
      ),
      includesHash,
    };
  }
  return results;
}

/** The versions in the order of `wanted`; a missing version has no `id`. */
async function locate(query: Query, wanted: readonly WantedVersion[]): Promise<Located[]> {
  const rows = await query(LOCATE, {
    indexes: wanted.map((_, index) => index),
    names: wanted.map(({ name }) => name),
    versions: wanted.map(({ version }) => version ?? null),
    labels: wanted.map(({ label }) => label ?? null),
  });
  return rows.toSorted((a, b) => a.index - b.index);
}

/**
 * What the prompts include, at any depth, in one snapshot.
 * @returns `covered`: how many of the prompts, from the first on, were resolved
 */
async function walk(
  query: Query,
  prompts: readonly Located[],
): Promise<{ byRef: Map<IncludeRef, Walked>; covered: number }> {
  for (let covered = prompts.length; covered > 0; covered = Math.floor(covered / 2)) {
    const refs = [...new Set(prompts.slice(0, covered).flatMap((row) => row.include_refs ?? []))];
    const rows = await query(WALK, { refs, limit: MAX_WALKED + 1 });
    if (rows.length <= MAX_WALKED || covered === 1)
      return { byRef: new Map(rows.map((row) => [row.ref, row])), covered };
  }
  return { byRef: new Map(), covered: 0 };
}

/** What is included at any depth, in the order of the references' names. */
function reachedFrom(refs: readonly IncludeRef[], byRef: ReadonlyMap<IncludeRef, Walked>): Walked[] {
  const reached = new Map<IncludeRef, Walked>();
  const waiting = [...refs];
  for (let ref = waiting.pop(); ref !== undefined; ref = waiting.pop()) {
    const row = byRef.get(ref);
    if (row === undefined || reached.has(ref)) continue;
    reached.set(ref, row);
    waiting.push(...(row.include_refs ?? []));
  }
  return [...reached.values()].toSorted((a, b) => (a.ref < b.ref ? -1 : 1));
}

/** Identifies a set of includes by the versions that the references resolve to. */
function hashOf(includes: readonly Walked[]): string {
  const versions = includes.map(({ ref, version }) => [ref, version]);
  return createHash('sha256').update(JSON.stringify(versions)).digest('base64url').slice(0, 22);
}

/** Texts by version id. */
async function readTemplates(query: Query, includes: readonly Walked[]): Promise<Map<string, string | null>> {
  const ids = [...new Set(includes.map(({ id }) => id ?? ''))];
  if (ids.length === 0) return new Map();
  const rows = await query(READ_TEMPLATES, { ids });
  return new Map(rows.map(({ id, template }) => [id, template]));
}
