import { sql } from 'kysely';
import type { Query, WorkspaceDatabase } from '../../db/database.ts';
import { lockInWorkspace } from '../../db/lock.ts';
import type { Page } from '../../db/read-page.ts';
import { given, now } from '../../db/sql.ts';
import { prepared } from '../../db/statement.ts';
import { ApiError } from '../../domain/errors.ts';
import { newId, publicId } from '../../domain/ids.ts';
import type { JsonValue } from '../../domain/json.ts';
import type { ReleaseStep } from '../../domain/release.ts';
import { allows, type Scope } from '../../domain/scopes.ts';
import { recordChange } from '../audit/record-change.ts';
import { policiesOf, requireFreeLabel, setPolicy } from './label-policies.ts';
import { archived, getPrompt, type PromptRow } from './prompts.ts';

/** How many labels of a workspace can be protected. */
export const MAX_PROTECTED_LABELS = 100;

/** A label and what it is on. */
export interface LabelRow {
  label: string;
  is_protected: boolean;
  /** Null: none. */
  policy: { steps: ReleaseStep[]; required: boolean } | null;
  /** Prompts that have it, archived ones included. */
  prompts: number;
}

/** What points a label at a version, or takes it away. */
export interface Mover {
  scopes: readonly Scope[];
  /** Moves a label that moves by releases alone: why. For an `admin`. */
  override?: { reason: string } | undefined;
}

const IS_PROTECTED = prepared<{ label: string }>()((db, { label }) =>
  db.selectFrom('protected_labels').select('id').where('label', '=', label),
);

/**
 * Whether it may move the label of any prompt, as far as its scopes go.
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
      : 'This key lacks the scope "write", which this operation needs: "publish" is for protected labels alone.',
  );
}

/**
 * Points a label at a version, moving it if it is elsewhere.
 * @throws ApiError `not_found`, `prompt_archived`, `insufficient_scope`, `invalid_state` where it moves by releases alone, or one is
 * under way
 */
export async function setLabel(
  db: WorkspaceDatabase,
  name: string,
  label: string,
  version: number,
  mover: Mover,
): Promise<PromptRow> {
  return db.transaction(async (query) => {
    await requireMover(query, label, mover);
    return moveLabel(query, name, label, version, mover);
  });
}

/**
 * The one way in which a label moves. Runs in the caller's transaction.
 * @param by what moves it: a caller whose scopes are enough ({@link requireMover}), or the release (UUID) that runs on it
 * @throws ApiError as {@link setLabel}, save `insufficient_scope`
 */
export async function moveLabel(
  query: Query,
  name: string,
  label: string,
  version: number,
  by: Mover | { release: string },
): Promise<PromptRow> {
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
  if (previous !== version) await recordChange(query, 'label.moved', name, details);
  return getPrompt(query, name, { version });
}

/**
 * Takes a label away and gives the prompt as it is then.
 * @throws ApiError `not_found` also where the prompt has no such label, `prompt_archived`, `insufficient_scope`, `invalid_state` where
 * it moves by releases alone, or one is under way
 */
export async function removeLabel(
  db: WorkspaceDatabase,
  name: string,
  label: string,
  mover: Mover,
): Promise<PromptRow> {
  return db.transaction(async (query) => {
    await requireMover(query, label, mover);
    const row = await getPrompt(query, name, { label });
    if (row.archived_at !== null) throw archived(name);
    const [gone] = await query((own) =>
      own.deleteFrom('prompt_labels').where('prompt_id', '=', row.id).where('label', '=', label).returning('release_id'),
    );
    await requireFreeLabel(query, label, gone?.release_id ?? null, { scopes: mover.scopes });
    await recordChange(query, 'label.removed', name, { label, version: row.version });
    return getPrompt(query, name, { version: row.version });
  });
}

/** Labels that prompts have or that are protected, by name: a page of at most `limit` after `after`, or only the label `only`. */
export async function listLabels(
  query: Query,
  { after, only, limit }: { after?: string | undefined; only?: string | undefined; limit: number },
): Promise<Page<LabelRow>> {
  const rows = await query((own) =>
    own
      .selectFrom((eb) => {
        const counted = eb
          .selectFrom('prompt_labels')
          .select(['label', sql<boolean>`false`.as('is_protected')])
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
          .select(['label', 'is_protected', 'uses'])
          .unionAll(
            eb
              .selectFrom('protected_labels')
              .select(['label', sql<boolean>`true`.as('is_protected'), sql<number>`0::bigint`.as('uses')])
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
              .select(['label', sql<boolean>`false`.as('is_protected'), sql<number>`0::bigint`.as('uses')])
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
      .select(sql<number>`sum(uses)::bigint`.as('prompts'))
      .groupBy('label')
      .orderBy('label')
      .limit(limit + 1),
  );
  const listed = rows.slice(0, limit);
  const policies = await policiesOf(
    query,
    listed.map(({ label }) => label),
  );
  return {
    rows: listed.map((row) => ({ ...row, policy: policies.get(row.label) ?? null })),
    more: rows.length > limit,
  };
}

/**
 * Protects a label of all prompts, or says how it moves, or ends either; doing it again changes nothing. What is left out stays.
 * @throws ApiError `quota_exceeded`
 */
export async function changeLabel(
  db: WorkspaceDatabase,
  label: string,
  { isProtected, policy }: { isProtected?: boolean | undefined; policy?: LabelRow['policy'] | undefined },
): Promise<LabelRow> {
  return db.transaction(async (query) => {
    if (isProtected !== undefined) {
      const isChanged = isProtected ? await protect(query, label) : await unprotect(query, label);
      if (isChanged) await recordChange(query, isProtected ? 'label.protected' : 'label.unprotected', label);
    }
    if (policy !== undefined) await setPolicy(query, label, policy);
    const { rows } = await listLabels(query, { only: label, limit: 1 });
    return rows[0] ?? { label, is_protected: false, policy: null, prompts: 0 };
  });
}

/** @returns whether it was protected until now */
async function unprotect(query: Query, label: string): Promise<boolean> {
  const deleted = await query((own) => own.deleteFrom('protected_labels').where('label', '=', label).returning('id'));
  return deleted.length > 0;
}

/** @returns whether it is new */
async function protect(query: Query, label: string): Promise<boolean> {
  await lockInWorkspace(query, 'protected labels');
  const added = await query((own) =>
    own
      .insertInto('protected_labels')
      .values({ id: newId(), label, created_at: now })
      .onConflict((conflict) => conflict.columns(['workspace_id', 'label']).doNothing())
      .returning('id'),
  );
  const [row] = await query((own) =>
    own.selectFrom('protected_labels').select((eb) => eb.fn.countAll<number>().as('count')),
  );
  if ((row?.count ?? 0) > MAX_PROTECTED_LABELS)
    throw new ApiError('quota_exceeded', `A workspace can protect at most ${MAX_PROTECTED_LABELS} labels.`);
  return added.length > 0;
}
