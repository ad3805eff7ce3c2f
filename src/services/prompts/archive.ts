import type { Query, WorkspaceDatabase } from '../../db/database.ts';
import { now } from '../../db/sql.ts';
import { ApiError } from '../../domain/errors.ts';
import { allows } from '../../domain/scopes.ts';
import { recordChange } from '../audit/record-change.ts';
import type { Mover } from './labels.ts';
import { getPrompt, type PromptRow } from './prompts.ts';

/**
 * Takes a prompt out of use, for runs and changes are refused then; doing it again changes nothing. A protected label is there
 * so that what it is on stays in use: who may not move it may not archive its prompt.
 * @throws ApiError `not_found`, `insufficient_scope`
 */
export async function archivePrompt(db: WorkspaceDatabase, name: string, mover: Mover): Promise<PromptRow> {
  return db.transaction(async (query) => {
    if ((await setArchived(query, name, true)) && !allows(mover.scopes, 'publish'))
      await requireUnprotected(query, name);
    return getPrompt(query, name);
  });
}

/**
 * Takes a prompt out of the archive; doing it again changes nothing.
 * @throws ApiError `not_found`
 */
export async function restorePrompt(db: WorkspaceDatabase, name: string): Promise<PromptRow> {
  return db.transaction(async (query) => {
    await setArchived(query, name, false);
    return getPrompt(query, name);
  });
}

/** @returns whether it was not so already */
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
async function requireUnprotected(query: Query, name: string): Promise<void> {
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
  if (held === undefined) return;
  throw new ApiError(
    'insufficient_scope',
    `The prompt "${name}" has the protected label "${held.label}": to archive it, a key needs the scope "publish", too.`,
  );
}
