import { type SqlBool, sql } from 'kysely';
import type { Query, WorkspaceDatabase } from '../../db/database.ts';
import { lockInWorkspace } from '../../db/lock.ts';
import { type Page, selectPage } from '../../db/read-page.ts';
import { given, now } from '../../db/sql.ts';
import { type Builder, prepared } from '../../db/statement.ts';
import { ApiError, invalidField } from '../../domain/errors.ts';
import { newId, publicId } from '../../domain/ids.ts';
import type { ReleaseStep } from '../../domain/releases/release.ts';
import { allows } from '../../domain/scopes.ts';
import type { JsonValue } from '../../domain/text/json.ts';
import { recordChange } from '../audit/record-change.ts';
import { requireRoom } from '../workspaces/quotas.ts';
import { INCLUDES_LOCK, resolveIncludes } from './includes.ts';
import { type Mover, policiesOf, requireFreeLabel, setPolicy } from './label-policies.ts';
import { archived, contentOf, getPrompt, type PromptRow } from './prompts.ts';
import { requirePinned } from './protected-includes.ts';

export type { Mover } from './label-policies.ts';

/** The maximum number of protected labels of a workspace. */
export const MAX_PROTECTED_LABELS = 100;

/** A label, its protection and its policy. */
export interface LabelRow {
  label: string;
  is_protected: boolean;
  /** Null if there is none. */
  policy: { steps: ReleaseStep[]; required: boolean } | null;
  /** Prompts that have it, archived ones included. */
  prompts: number;
}

const IS_PROTECTED = prepared<{ label: string }>()((db, { label }) =>
  db.selectFrom('protected_labels').select('id').where('label', '=', label),
);

/**
 * Checks that the scopes of the caller allow moving the label of any prompt.
 * @throws ApiError `insufficient_scope`
 */
export async function requireMover(query: Query, label: string, { scopes }: Mover): Promise<void> {
  const [protection] = await query(IS_PROTECTED, { label });
  const needed = protection === undefined ? 'write' : 'publish';
  if (allows(scopes, needed)) return;
  throw new ApiError(
    'insufficient_scope',
    needed === 'publish'
      ? `The label "${label}" is protected: to move or remove it, a key needs the scope "publish".`
      : 'This key lacks the scope "write", which this operation needs: "publish" covers only protected labels.',
  );
}

/** A label and the version to move it to. */
export interface LabelMove {
  name: string;
  label: string;
  version: number;
}

/**
 * Points a label at a version, moving it if it is elsewhere. This is the only way in which labels move. Applies the same checks
 * as writing that version. Runs in the caller's transaction, until whose end no other label moves and no other includes are
 * written. Call it before the transaction locks any label rows of a prompt.
 * @param by who moves it: a caller, or the release (UUID) that runs on it
 * @throws ApiError `not_found`, `prompt_archived`, `insufficient_scope`; `invalid_request` if the version's includes can't be
 * run, are circular with the label there, or are not pinned although the label is protected, or if another version includes the
 * label and this one is a list of messages; `invalid_state` if the label moves only by releases, or a release is active
 */
export async function moveLabel(
  query: Query,
  { name, label, version }: LabelMove,
  by: Mover | { release: string },
): Promise<PromptRow> {
  await lockInWorkspace(query, INCLUDES_LOCK);
  if (!('release' in by)) await requireMover(query, label, by);
  const row = await getPrompt(query, name, { version });
  if (row.archived_at !== null) throw archived(name);
  const [before] = await query((own) =>
    own
      .selectFrom('prompt_labels')
      .select(['version', 'release_id'])
      .where('prompt_id', '=', row.id)
      .where('label', '=', label)
      .forUpdate(),
  );
  const previous = before?.version ?? null;
  const details: Record<string, JsonValue> = { label, version, previous_version: previous };
  if ('release' in by) details['release'] = publicId('release', by.release);
  else if (before !== undefined && previous !== version)
    Object.assign(details, await requireFreeLabel(query, label, before.release_id, by));
  await query((own) =>
    own
      .insertInto('prompt_labels')
      .values({ id: newId(), prompt_id: row.id, label, version, updated_at: now })
      .onConflict((conflict) => conflict.columns(['prompt_id', 'label']).doUpdateSet({ version, updated_at: now })),
  );
  if (previous !== version) {
    await requireFit(query, row, label);
    await recordChange(query, 'label.moved', name, details);
  }
  return getPrompt(query, name, { version });
}

/**
 * Checks the includes of a version that a label was just moved to, and that the versions that include the label can include it.
 * @throws ApiError `invalid_request`
 */
async function requireFit(query: Query, row: PromptRow, label: string): Promise<void> {
  if (row.template === null) await requireNoIncluder(query, row.name, label, 'version', 'is a list of messages');
  // Resolved after the label has moved, so that a cycle through this version is found.
  await resolveIncludes(query, contentOf(row), 'version');
  const [protection] = await query(IS_PROTECTED, { label });
  if (protection !== undefined)
    await requirePinned(
      query,
      { promptId: row.id, label },
      { at: 'version', change: `can't be under the protected label "${label}"` },
    );
}

/**
 * Refuses a change that would leave versions that include a prompt by a label without a text. As in lists, a version counts if it
 * is the latest of its prompt or has a label.
 * @throws ApiError `invalid_request` naming one of them
 */
async function requireNoIncluder(query: Query, name: string, label: string, at: string, why: string): Promise<void> {
  const [includer] = await query((own) =>
    own
      .selectFrom('prompt_includes as i')
      .innerJoin('prompts as q', 'q.id', 'i.prompt_id')
      .innerJoin('prompt_versions as v', (join) =>
        join.onRef('v.prompt_id', '=', 'i.prompt_id').onRef('v.version', '=', 'i.version'),
      )
      .select(['q.name', 'v.version'])
      .where('i.included_name', '=', name)
      .where('q.archived_at', 'is', null)
      .where(sql<SqlBool>`${`${name}@${label}`}::text = any(${sql.ref('v.include_refs')})`)
      .where((eb) =>
        eb.or([
          eb('v.version', '=', eb.ref('q.latest_version')),
          eb.exists(
            eb
              .selectFrom('prompt_labels as l')
              .select('l.id')
              .whereRef('l.prompt_id', '=', 'q.id')
              .whereRef('l.version', '=', 'v.version'),
          ),
        ]),
      )
      .orderBy('q.name')
      .orderBy('v.version', 'desc')
      .limit(1),
  );
  if (includer !== undefined)
    throw invalidField(
      at,
      `${why}, and version ${includer.version} of "${includer.name}" includes "${name}@${label}": change that first`,
    );
}

/**
 * Makes sure that a label on `version` could move to the version of `row`: moves it there and back inside the transaction,
 * invisible to others. The transaction holds `INCLUDES_LOCK`.
 * @throws ApiError `invalid_request`, as {@link moveLabel}
 */
export async function requireMovable(query: Query, row: PromptRow, label: string, version: number): Promise<void> {
  const pointAt = (at: number) =>
    query((own) =>
      own.updateTable('prompt_labels').set({ version: at }).where('prompt_id', '=', row.id).where('label', '=', label),
    );
  await pointAt(row.version);
  await requireFit(query, row, label);
  await pointAt(version);
}

/** {@link moveLabel} in its own transaction. */
export async function setLabel(
  db: WorkspaceDatabase,
  name: string,
  label: string,
  version: number,
  mover: Mover,
): Promise<PromptRow> {
  return db.transaction((query) => moveLabel(query, { name, label, version }, mover));
}

/**
 * Removes a label and returns the prompt without it.
 * @throws ApiError `not_found` also if the prompt has no such label, `prompt_archived`, `insufficient_scope`; `invalid_request`
 * if another version includes it; `invalid_state` if it moves only by releases, or a release is active
 */
export async function removeLabel(
  db: WorkspaceDatabase,
  name: string,
  label: string,
  mover: Mover,
): Promise<PromptRow> {
  return db.transaction(async (query) => {
    // No label can become protected in the meantime.
    await lockInWorkspace(query, INCLUDES_LOCK);
    await requireMover(query, label, mover);
    const row = await getPrompt(query, name, { label });
    if (row.archived_at !== null) throw archived(name);
    const [gone] = await query((own) =>
      own
        .deleteFrom('prompt_labels')
        .where('prompt_id', '=', row.id)
        .where('label', '=', label)
        .returning('release_id'),
    );
    await requireFreeLabel(query, label, gone?.release_id ?? null, { scopes: mover.scopes });
    await requireNoIncluder(query, name, label, 'label', "can't be removed");
    await recordChange(query, 'label.removed', name, { label, version: row.version });
    return getPrompt(query, name, { version: row.version });
  });
}

/**
 * The labels of a prompt and the versions that they point at, by name. An archived prompt keeps its labels.
 * @throws ApiError `not_found`
 */
export async function labelsOfPrompt(query: Query, name: string): Promise<{ label: string; version: number }[]> {
  const { id } = await getPrompt(query, name);
  return query((own) =>
    own.selectFrom('prompt_labels').select(['label', 'version']).where('prompt_id', '=', id).orderBy('label'),
  );
}

/** Labels that prompts have or that are protected, by name: a page of at most `limit` after `after`, or only the label `only`. */
export async function listLabels(
  query: Query,
  { after, only, limit }: { after?: string | undefined; only?: string | undefined; limit: number },
): Promise<Page<LabelRow>> {
  const labels = (own: Builder) =>
    own
      .selectFrom((eb) => {
        const counted = eb
          .selectFrom('prompt_labels')
          .select(['label', sql<boolean>`false`.as('is_protected'), sql<number>`0`.as('bytes')])
          .select((count) => count.fn.countAll<number>().as('uses'))
          .where((own) =>
            own.and([
              ...given(after, (value) => own('label', '>', value)),
              ...given(only, (value) => own('label', '=', value)),
            ]),
          )
          .groupBy('label')
          .orderBy('label')
          .limit(limit + 1);
        return eb
          .selectFrom(counted.as('counted'))
          .select(['label', 'is_protected', 'bytes', 'uses'])
          .unionAll(
            eb
              .selectFrom('protected_labels')
              .select(['label', sql<boolean>`true`.as('is_protected'), sql<number>`0`.as('bytes')])
              .select(sql<number>`0::bigint`.as('uses'))
              .where((own) =>
                own.and([
                  ...given(after, (value) => own('label', '>', value)),
                  ...given(only, (value) => own('label', '=', value)),
                ]),
              ),
          )
          .unionAll(
            eb
              .selectFrom('label_policies')
              .select(['label', sql<boolean>`false`.as('is_protected'), sql<number>`pg_column_size(steps)`.as('bytes')])
              .select(sql<number>`0::bigint`.as('uses'))
              .where((own) =>
                own.and([
                  ...given(after, (value) => own('label', '>', value)),
                  ...given(only, (value) => own('label', '=', value)),
                ]),
              ),
          )
          .as('labels');
      })
      .select(['label', sql<boolean>`bool_or(is_protected)`.as('is_protected')])
      .select([sql<number>`sum(uses)::bigint`.as('prompts'), sql<number>`sum(bytes) + octet_length(label)`.as('bytes')])
      .groupBy('label');
  const { rows, more } = await selectPage(
    query,
    { select: labels, orderBy: [['label', 'asc']], bytes: (eb) => eb.ref('bytes') },
    limit,
  );

  const policies = await policiesOf(
    query,
    rows.map(({ label }) => label),
  );
  return { rows: rows.map((row) => ({ ...row, policy: policies.get(row.label) ?? null })), more };
}

/**
 * Changes the protection or the policy of a label, for all prompts; repeating it has no effect. Omitted parts are unchanged.
 * @throws ApiError `quota_exceeded`; `invalid_request` if a version under a protected label would include something that is not pinned
 */
export async function changeLabel(
  db: WorkspaceDatabase,
  label: string,
  { isProtected, policy }: { isProtected?: boolean | undefined; policy?: LabelRow['policy'] | undefined },
): Promise<LabelRow> {
  return db.transaction(async (query) => {
    if (isProtected !== undefined) await setProtected(query, label, isProtected);
    if (policy !== undefined) await setPolicy(query, label, policy);
    const { rows } = await listLabels(query, { only: label, limit: 1 });
    return rows[0] ?? { label, is_protected: false, policy: null, prompts: 0 };
  });
}

async function setProtected(query: Query, label: string, isProtected: boolean): Promise<void> {
  await lockInWorkspace(query, INCLUDES_LOCK);
  const isChanged = isProtected ? await protect(query, label) : await unprotect(query, label);
  if (!isChanged) return;
  if (isProtected)
    await requirePinned(query, { label }, { at: 'protected', change: `can't be true for the label "${label}" yet` });
  else
    await requirePinned(
      query,
      {},
      { at: 'protected', change: `can't be false for the label "${label}" yet`, selector: label },
    );
  await recordChange(query, isProtected ? 'label.protected' : 'label.unprotected', label);
}

/** @returns whether it was protected before */
async function unprotect(query: Query, label: string): Promise<boolean> {
  const deleted = await query((own) => own.deleteFrom('protected_labels').where('label', '=', label).returning('id'));
  return deleted.length > 0;
}

/** @returns whether it is newly protected */
async function protect(query: Query, label: string): Promise<boolean> {
  const added = await query((own) =>
    own
      .insertInto('protected_labels')
      .values({ id: newId(), label, created_at: now })
      .onConflict((conflict) => conflict.columns(['workspace_id', 'label']).doNothing())
      .returning('id'),
  );
  const message = `A workspace can protect at most ${MAX_PROTECTED_LABELS} labels.`;
  await requireRoom(query, 'protected_labels', MAX_PROTECTED_LABELS, message);
  return added.length > 0;
}
