import { type SqlBool, sql } from 'kysely';
import type { Query, WorkspaceDatabase } from '../../db/database.ts';
import { lockInWorkspace } from '../../db/lock.ts';
import { now } from '../../db/sql.ts';
import { inStates } from '../../db/state-change.ts';
import { invalidField, notFound } from '../../domain/errors.ts';
import { evaluationStates, UNFINISHED_EVALUATION } from '../../domain/evaluations/evaluation-states.ts';
import { executionStates, UNFINISHED_EXECUTION } from '../../domain/execution-states.ts';
import { publicId } from '../../domain/ids.ts';
import { releaseStates, UNFINISHED_RELEASE } from '../../domain/releases/release-states.ts';
import { recordChange } from '../audit/record-change.ts';
import { INCLUDES_LOCK } from './includes.ts';
import { getPrompt, type PromptRow } from './prompts.ts';

/**
 * Deletes a version that nothing needs: it is not the latest, has no label, is not included by number in another version, is in no unfinished
 * run or release, and is not used by a schedule. Its number is never reused. Executions and evaluations of it keep what they were run with.
 * @returns it as it was
 * @throws ApiError `not_found`; `invalid_request` naming what needs it
 */
export async function deleteVersion(db: WorkspaceDatabase, name: string, version: number): Promise<PromptRow> {
  return db.transaction(async (query) => {
    const [prompt] = await query((own) => own.selectFrom('prompts').select('id').where('name', '=', name).forUpdate());
    if (prompt === undefined) throw notFound(`The prompt "${name}"`);
    // Nothing can include it, and no label can move to it, until this has ended. The prompt's row is locked first, as everywhere.
    await lockInWorkspace(query, INCLUDES_LOCK);
    const row = await getPrompt(query, name, { version });
    const need = await neededBy(query, row);
    if (need !== undefined) throw invalidField('version', need);
    await query((own) =>
      own.deleteFrom('prompt_includes').where('prompt_id', '=', prompt.id).where('version', '=', version),
    );
    await query((own) =>
      own.deleteFrom('prompt_versions').where('prompt_id', '=', prompt.id).where('version', '=', version),
    );
    await query((own) =>
      own
        .updateTable('prompts')
        .set((eb) => ({ stored_bytes: eb('stored_bytes', '-', row.bytes), updated_at: now }))
        .where('id', '=', prompt.id),
    );
    await recordChange(query, 'prompt.version_deleted', name, { version });
    return row;
  });
}

/** What a version is needed for; undefined if nothing. */
async function neededBy(
  query: Query,
  { name, version, latest_version, labels }: PromptRow,
): Promise<string | undefined> {
  if (version === latest_version) return 'is the latest version, which cannot be deleted: create another one first';
  if (labels.length > 0) return `has the label "${labels[0]}": move or remove it first`;
  const [includer] = await query((own) =>
    own
      .selectFrom('prompt_includes as i')
      .innerJoin('prompts as q', 'q.id', 'i.prompt_id')
      .innerJoin('prompt_versions as v', (join) =>
        join.onRef('v.prompt_id', '=', 'i.prompt_id').onRef('v.version', '=', 'i.version'),
      )
      .select(['q.name', 'v.version'])
      .where('i.included_name', '=', name)
      .where(sql<SqlBool>`${`${name}@${version}`}::text = any(${sql.ref('v.include_refs')})`)
      .limit(1),
  );
  if (includer !== undefined)
    return `is included by version ${includer.version} of "${includer.name}", by its number: delete that version first`;
  const [execution] = await query((own) =>
    own
      .selectFrom('executions')
      .select('id')
      .where('prompt_name', '=', name)
      .where('prompt_version', '=', version)
      .where(inStates(executionStates, UNFINISHED_EXECUTION))
      .limit(1),
  );
  if (execution !== undefined)
    return `is being run by ${publicId('execution', execution.id)}: cancel it, or wait for its end`;
  const [evaluation] = await query((own) =>
    own
      .selectFrom('evaluations')
      .select('id')
      .where('prompt_name', '=', name)
      .where('prompt_version', '=', version)
      .where(inStates(evaluationStates, UNFINISHED_EVALUATION))
      .limit(1),
  );
  if (evaluation !== undefined)
    return `is being run by ${publicId('evaluation', evaluation.id)}: cancel it, or wait for its end`;
  const [release] = await query((own) =>
    own
      .selectFrom('releases')
      .select('id')
      .where('prompt_name', '=', name)
      .where((eb) => eb.or([eb('stable_version', '=', version), eb('candidate_version', '=', version)]))
      .where(inStates(releaseStates, UNFINISHED_RELEASE))
      .limit(1),
  );
  if (release !== undefined)
    return `is in the release ${publicId('release', release.id)}, which is in progress: cancel it, or wait for its end`;
  const [schedule] = await query((own) =>
    own
      .selectFrom('schedules')
      .select('name')
      .where(sql<SqlBool>`request->'parsed'->>'promptName' = ${name}`)
      .where(sql<SqlBool>`request->'parsed'->>'version' = ${String(version)}`)
      .limit(1),
  );
  return (
    schedule && `is used by the schedule "${schedule.name}": delete the schedule first, or let it run another version`
  );
}
