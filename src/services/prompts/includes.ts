import { sql } from 'kysely';
import type { Query } from '../../db/database.ts';
import { lockInWorkspace } from '../../db/lock.ts';
import { prepared, type RowOf } from '../../db/statement.ts';
import { invalidField } from '../../domain/errors.ts';
import { includesOf } from '../../domain/prompts/prompt.ts';
import type { IncludeRef, IncludeSet, PromptContent } from '../../domain/prompts/prompt-content.ts';
import { walkIncludes } from './include-walk.ts';

/**
 * Locked by every change to what includes resolve to, or to which labels are protected: one at a time in a workspace, until the
 * end of its transaction. If a prompt's row is also locked, it is locked first.
 */
export const INCLUDES_LOCK = 'includes';

/** The maximum nesting depth of includes. */
const MAX_DEPTH = 5;
/** The maximum number of different includes of a content, at any depth. */
export const MAX_INCLUDES = 100;
/** Their maximum total size; a text that is included twice by different references counts twice. */
export const MAX_INCLUDED_BYTES = 1024 * 1024;

/** The references of a content, each resolved once, with the texts unless they are too long in total. */
const RESOLVE = prepared<{ refs: string[]; key: string | null; limit: number; maxBytes: number }>()(
  (db, { refs, key, limit, maxBytes }) =>
    walkIncludes(db, refs, key)
      // PostgreSQL walks no further than this.
      .with('reached', (cte) => cte.selectFrom('walk').select(['ref', 'version_id']).limit(limit))
      .with('sizes', (cte) =>
        cte
          .selectFrom('reached')
          .innerJoin('prompt_versions as v', 'v.id', 'reached.version_id')
          .select(sql<number>`coalesce(sum(octet_length(v.template)), 0)::int`.as('bytes')),
      )
      .selectFrom('reached')
      .crossJoin('sizes')
      .leftJoin('prompt_versions as v', 'v.id', 'reached.version_id')
      .leftJoin('prompts as p', 'p.id', 'v.prompt_id')
      .select(['reached.ref', 'sizes.bytes', 'p.name', 'p.archived_at', 'v.version', 'v.include_refs'])
      .select(sql<boolean>`v.template is not null`.as('isText'))
      .select((eb) => eb.case().when('sizes.bytes', '<=', maxBytes).then(eb.ref('v.template')).end().as('template')),
);

/** What a reference resolves to: nothing, if it has no name. */
export type Include = Omit<RowOf<typeof RESOLVE>, 'bytes' | 'template'>;

const TOO_MANY = `has more than ${MAX_INCLUDES} different includes, counting nested ones`;
const TOO_LONG = `has includes of more than ${MAX_INCLUDED_BYTES} bytes together`;

/**
 * Why a content can't be run with its includes; undefined if it can.
 * @param refs the references in the content itself
 * @param byRef what they resolve to, at any depth
 * @param count of its includes at any depth
 * @param bytes of their texts
 */
export function includesProblem(
  refs: readonly IncludeRef[],
  byRef: ReadonlyMap<IncludeRef, Include>,
  { count, bytes }: { count: number; bytes: number },
): string | undefined {
  const fault = faultOf(refs, byRef);
  if (fault !== undefined) return fault;
  if (count > MAX_INCLUDES) return TOO_MANY;
  return bytes > MAX_INCLUDED_BYTES ? TOO_LONG : undefined;
}

/**
 * Resolves everything that a content includes, at any depth, in one statement: each reference once, all in one snapshot. A
 * content without includes needs no statement.
 *
 * @param at path of the content's text in the request. Default: the field of the content that has it
 * @param key decides which versions labels refer to while releases run. Default: the stable ones
 * @throws ApiError `invalid_request` if an include is unknown, archived or not a text, or if includes are circular, nested more
 * than 5 deep, more than {@link MAX_INCLUDES}, or longer than 1 MiB in total
 */
export async function resolveIncludes(
  query: Query,
  content: PromptContent,
  at: string = content.template === null ? 'messages' : 'template',
  key: string | null = null,
): Promise<IncludeSet> {
  const refs = includesOf(content);
  if (refs.length === 0) return {};
  if (refs.length > MAX_INCLUDES) throw invalidField(at, TOO_MANY);
  const rows = await query(RESOLVE, { refs, key, limit: MAX_INCLUDES + 1, maxBytes: MAX_INCLUDED_BYTES });
  const byRef = new Map(rows.map((row) => [row.ref, row]));
  const problem = includesProblem(refs, byRef, { count: rows.length, bytes: rows[0]?.bytes ?? 0 });
  if (problem !== undefined) throw invalidField(at, problem);
  return Object.fromEntries(
    rows.map(({ ref, name, version, template }) => [
      ref,
      { name: name ?? '', version: version ?? 0, template: template ?? '' },
    ]),
  );
}

/** Why a set can't be used; undefined if it can. */
function faultOf(refs: readonly IncludeRef[], byRef: ReadonlyMap<IncludeRef, Include>): string | undefined {
  /** The nesting depth of the includes visited so far. */
  const depths = new Map<IncludeRef, number>();
  /** The references that lead to the current one. */
  const path: IncludeRef[] = [];

  function visit(ref: IncludeRef): string | number {
    const known = depths.get(ref);
    if (known !== undefined) return known;
    const row = byRef.get(ref);
    // Beyond the last row that was read.
    if (row === undefined) return 0;
    const { name, version, archived_at: archivedAt, isText, include_refs: inner } = row;
    if (name === null || version === null) return `includes "${ref}", which does not exist in this workspace`;
    if (archivedAt !== null) return `includes "${ref}", which is archived: restore it, or leave it out`;
    if (!isText) return `includes "${ref}", which is a list of messages: only a template can be included`;
    const before = path.findIndex((each) => byRef.get(each)?.name === name && byRef.get(each)?.version === version);
    if (before >= 0) return `includes are circular: ${[...path.slice(before), ref].join(' → ')}`;
    path.push(ref);
    const below = deepest(inner ?? []);
    path.pop();
    if (typeof below === 'string') return below;
    depths.set(ref, below + 1);
    return below + 1;
  }

  function deepest(inner: readonly IncludeRef[]): string | number {
    let depth = 0;
    for (const ref of inner) {
      const below = visit(ref);
      if (typeof below === 'string') return below;
      depth = Math.max(depth, below);
    }
    return depth;
  }

  const depth = deepest(refs);
  if (typeof depth === 'string') return depth;
  return depth > MAX_DEPTH ? `has includes nested deeper than ${MAX_DEPTH} levels` : undefined;
}

/**
 * Checks the includes of a newly stored version. Other writers of includes wait until the transaction ends, because two of them
 * could otherwise create a cycle.
 * @throws ApiError `invalid_request` as {@link resolveIncludes}
 */
export async function checkIncludes(query: Query, content: PromptContent): Promise<IncludeSet> {
  if (includesOf(content).length > 0) await lockInWorkspace(query, INCLUDES_LOCK);
  return resolveIncludes(query, content);
}
