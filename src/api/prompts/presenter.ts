import type { z } from 'zod';
import { publicId } from '../../domain/ids.ts';
import { templateWarnings } from '../../domain/prompts/template-warnings.ts';
import type { Rollout } from '../../domain/releases/rollout.ts';
import type { ListedPromptRow } from '../../services/prompts/list-prompts.ts';
import type { FoundPromptRow } from '../../services/prompts/prompts.ts';
import type { ResolvedVersion } from '../../services/prompts/resolve-prompts.ts';
import { contentOf } from '../../services/prompts/version.ts';
import type { ListedPrompt, Prompt, PromptRelease, ResolvedPrompt } from './schema.ts';

const presentRollout = (rollout: Rollout): z.input<typeof PromptRelease> => ({
  id: publicId('release', rollout.id),
  candidate_version: rollout.candidate_version,
  percent: rollout.percent,
  salt: rollout.salt,
});

/** Presents a prompt version. */
export function presentPrompt(row: FoundPromptRow): z.input<typeof Prompt> {
  return {
    name: row.name,
    version: row.version,
    ...contentOf(row),
    model: row.model,
    fallback_models: row.fallback_models,
    parameters: row.parameters,
    config: row.config,
    variables: row.variables,
    labels: row.labels,
    archived: row.archived_at !== null,
    description: row.description,
    commit_message: row.commit_message,
    created_by: row.created_by,
    created_at: row.created_at.toISOString(),
    updated_at: row.updated_at.toISOString(),
    version_created_at: row.version_created_at.toISOString(),
    ...(row.rollout && { release: presentRollout(row.rollout) }),
  };
}

/** Presents a version that was just written, with warnings about probable mistakes. */
export function presentWritten(row: FoundPromptRow): z.input<typeof Prompt> {
  const warnings = templateWarnings(row);
  return { ...presentPrompt(row), ...(warnings.length > 0 && { warnings }) };
}

/** Presents a prompt in a list. */
export function presentListedPrompt(row: ListedPromptRow): z.input<typeof ListedPrompt> {
  return { ...presentPrompt(row), all_labels: row.all_labels };
}

/** Presents the outcome for one of several requested prompts. */
export function presentResolved(name: string, resolved: ResolvedVersion): z.input<typeof ResolvedPrompt> {
  if (resolved === 'left out') return { name, left_out: true };
  if ('unchanged' in resolved)
    return { name, unchanged: true, ...(resolved.unchanged && { release: presentRollout(resolved.unchanged) }) };
  if ('code' in resolved) return { name, error: { code: resolved.code, message: resolved.message } };
  const { prompt, includes, includesHash } = resolved;
  return { name, prompt: presentPrompt(prompt), includes, includes_hash: includesHash };
}
