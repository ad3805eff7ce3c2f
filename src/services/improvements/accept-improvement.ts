import type { Query } from '../../db/database.ts';
import { ApiError, invalidField, notFound } from '../../domain/errors.ts';
import { publicId } from '../../domain/ids.ts';
import { wordingOf } from '../../domain/improvements/parts.ts';
import type { ReleaseStep } from '../../domain/releases/release.ts';
import type { Models } from '../../models/model.ts';
import { recordChange } from '../audit/record-change.ts';
import type { Mover } from '../prompts/label-policies.ts';
import { getPrompt, updatePrompt } from '../prompts/prompts.ts';
import { createRelease } from '../releases/create-release.ts';
import type { ReleaseRow } from '../releases/releases.ts';
import type { Quotas } from '../workspaces/quotas.ts';
import { type ImprovementRow, lockImprovement, readCandidates, saveImprovement } from './improvements.ts';

const MAX_MESSAGE = 1_000;

export interface Acceptance {
  /** Default: the candidate of the verdict. */
  candidate?: number | undefined;
  /** Whether a candidate without a proof is allowed. */
  unproved: boolean;
  /** Whether the prompt may have newer versions than the base. */
  baseChanged: boolean;
  /** UUID and settings of the release to start. */
  release?: { id: string; label: string; steps?: ReleaseStep[] | undefined; reason?: string | undefined } | undefined;
}

/**
 * Makes a version of a candidate, as it was measured, and starts a release of it if asked. Runs in the caller's transaction;
 * repeating it changes nothing.
 * @returns the release that was started, whose workflow is to be started
 * @throws ApiError `not_found`, `invalid_state`, `version_conflict`, `invalid_request`, and as `createRelease`
 */
export async function acceptImprovement(
  query: Query,
  deps: { models: Models; quotas: Pick<Quotas, 'check'>; mover: Mover },
  id: string,
  { candidate: wanted, unproved, baseChanged, release }: Acceptance,
): Promise<{ row: ImprovementRow; release: ReleaseRow | undefined }> {
  const row = await lockImprovement(query, id);
  if (row === undefined) throw notFound('This improvement');
  if (row.accepted_version !== null) return { row, release: undefined };
  const name = publicId('improvement', id);
  if (row.status === 'running' || row.status === 'paused')
    throw new ApiError('invalid_state', `${name} is ${row.status}: accept a candidate when it has ended.`);
  const { verdict, base } = row;
  const number = wanted ?? verdict?.candidate ?? null;
  if (number === null) throw new ApiError('invalid_state', `${name} has found no candidate: name one to accept.`);
  const found = (await readCandidates(query, id)).find((each) => each.number === number);
  if (found === undefined || found.number === 0) throw invalidField('candidate', `is not a candidate of ${name}`);
  const { content } = found;
  if (content === null) throw invalidField('candidate', `has no text: it is ${found.status}`);
  const isProved = verdict?.result === 'improvement' && verdict.candidate === number;
  if (!isProved && !unproved)
    throw new ApiError(
      'invalid_state',
      `No verdict has proved that candidate ${number} is better. To accept it nevertheless, send "unproved": true.`,
    );
  if (baseChanged) await getPrompt(query, row.prompt_name);
  const note = verdict?.candidate === number ? verdict.note : 'It was not tested on held-out examples.';
  const { template, messages, tools } = content;
  const prompt = await updatePrompt(query, row.prompt_name, {
    // As it was measured, whatever has changed since.
    ...base,
    template: template ?? undefined,
    messages: template === null ? (messages ?? undefined) : undefined,
    tools,
    baseVersion: baseChanged ? undefined : row.prompt_version,
    commitMessage: `${name}, candidate ${number}: ${note}`.slice(0, MAX_MESSAGE),
  });
  const started =
    release &&
    (await createRelease(query, deps, {
      id: release.id,
      promptName: row.prompt_name,
      label: release.label,
      version: prompt.version,
      steps: release.steps,
      reason: release.reason ?? note.slice(0, MAX_MESSAGE),
      deadline: null,
      metadata: { improvement: name },
      supersede: false,
    }));
  await recordChange(query, 'improvement.accepted', name, {
    prompt_name: row.prompt_name,
    candidate: number,
    version: prompt.version,
    proved: isProved,
    chars: wordingOf({ ...base, ...content }).length,
  });
  const accepted = { accepted_version: prompt.version, accepted_release_id: release?.id ?? null };
  await saveImprovement(query, row, {}, accepted);
  return { row: { ...row, ...accepted }, release: started };
}
