import type { Query, WorkspaceDatabase } from '../../db/database.ts';
import { lockInWorkspace } from '../../db/lock.ts';
import { now } from '../../db/sql.ts';
import { ApiError } from '../../domain/errors.ts';
import { allows } from '../../domain/scopes.ts';
import { recordChange } from '../audit/record-change.ts';
import { INCLUDES_LOCK } from './includes.ts';
import type { Mover } from './label-policies.ts';
import { getPrompt, type PromptRow } from './prompts.ts';
import { isHeld } from './protected-includes.ts';

/**
 * Archives a prompt, which refuses runs and changes from then on; repeating it has no effect. A protected label keeps its version
 * in use: callers that can't move the label can't archive its prompt, nor a prompt included by the labelled version.
 * @throws ApiError `not_found`, `insufficient_scope`
 */
export async function archivePrompt(db: WorkspaceDatabase, name: string, mover: Mover): Promise<PromptRow> {
  return change(db, name, mover, true);
}

/**
 * Restores a prompt from the archive; a prompt that is not archived is left unchanged. Needs the same permissions as archiving.
 * @throws ApiError `not_found`, `insufficient_scope`
 */
export async function restorePrompt(db: WorkspaceDatabase, name: string, mover: Mover): Promise<PromptRow> {
  return change(db, name, mover, false);
}

function change(db: WorkspaceDatabase, name: string, { scopes }: Mover, archive: boolean): Promise<PromptRow> {
  return db.transaction(async (query) => {
    if ((await setArchived(query, name, archive)) && !allows(scopes, 'publish')) {
      // Prevents that anything comes under a protected label in the meantime.
      await lockInWorkspace(query, INCLUDES_LOCK);
      await requireFree(query, name, archive ? 'archive' : 'restore');
    }
    return getPrompt(query, name);
  });
}

/** @returns whether this changed it */
async function setArchived(query: Query, name: string, archive: boolean): Promise<boolean> {
  const changed = await query((own) =>
    own
      .updateTable('prompts')
      .set({ archived_at: archive ? now : null, updated_at: now })
      .where('name', '=', name)
      .where('archived_at', archive ? 'is' : 'is not', null)
      .returning('id'),
  );
  if (changed.length === 0) return false;
  await recordChange(query, archive ? 'prompt.archived' : 'prompt.restored', name);
  return true;
}

/** @throws ApiError `insufficient_scope` */
async function requireFree(query: Query, name: string, action: 'archive' | 'restore'): Promise<void> {
  const [held] = await query((own) =>
    own
      .selectFrom('prompt_labels as l')
      .innerJoin('prompts as p', 'p.id', 'l.prompt_id')
      .innerJoin('protected_labels as g', 'g.label', 'l.label')
      .select('l.label')
      .where('p.name', '=', name)
      .orderBy('l.label')
      .limit(1),
  );
  const needed = `to ${action} it, a key needs the scope "publish", too.`;
  if (held !== undefined)
    throw new ApiError('insufficient_scope', `The prompt "${name}" has the protected label "${held.label}": ${needed}`);
  if (await isHeld(query, name))
    throw new ApiError(
      'insufficient_scope',
      `The prompt "${name}" is included by a version that is under a protected label: ${needed}`,
    );
}
