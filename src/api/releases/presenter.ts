import type { z } from 'zod';
import { publicId } from '../../domain/ids.ts';
import { type Arms, describeArms, NO_ARMS } from '../../services/releases/numbers.ts';
import type { ReleaseRow } from '../../services/releases/releases.ts';
import { releaseWorkflowId } from '../../temporal/names.ts';
import type { Release } from './schema.ts';

/** Presents a release. */
export function presentRelease(row: ReleaseRow, arms: Arms = NO_ARMS): z.input<typeof Release> {
  return {
    id: publicId('release', row.id),
    prompt_name: row.prompt_name,
    label: row.label,
    stable_version: row.stable_version,
    candidate_version: row.candidate_version,
    steps: row.steps.map((step) => ({ ...step })),
    step: row.step,
    percent: row.percent,
    salt: row.salt,
    status: row.status,
    status_reason: row.status_reason,
    reason: row.reason,
    deadline: row.deadline?.toISOString() ?? null,
    metadata: row.metadata,
    approvals: row.approvals,
    decisions: row.decisions,
    arms: describeArms(arms),
    evaluation_id: row.evaluation_id === null ? null : publicId('evaluation', row.evaluation_id),
    workflow_id: releaseWorkflowId(row.id),
    created_by: row.created_by,
    created_at: row.created_at.toISOString(),
    promoted_at: row.promoted_at?.toISOString() ?? null,
    finished_at: row.finished_at?.toISOString() ?? null,
  };
}
