import { z } from 'zod';
import { type Declaration, event } from '../capability.ts';
import { publicIdPattern } from '../ids.ts';
import { releaseStates } from '../releases/release-states.ts';

const ReleaseData = z
  .strictObject({
    release_id: z.string().regex(publicIdPattern('release')),
    prompt_name: z.string(),
    label: z.string(),
    stable_version: z.int().meta({ description: 'The version the label pointed to when the release started.' }),
    candidate_version: z.int(),
    status: z.enum(releaseStates.states),
    reason: z.string().nullable().meta({ description: 'The reason for the status, in words.' }),
  })
  .meta({ id: 'ReleaseEventData' });

const release = {
  release_id: 'rel_0198f0aa-7e5c-7c3a-9d55-0c9f6f1f2a11',
  prompt_name: 'support/greeting',
  label: 'production',
  stable_version: 3,
  candidate_version: 7,
};

export const releases = {
  name: 'releases',
  folders: ['labels'],
  tags: { Releases: 'A new version of a prompt behind a label, step by step, with checks between the steps.' },
  ids: ['release'],
  audit: {
    'release.started': 'release',
    'release.approved': 'release',
    'release.rejected': 'release',
    'release.paused': 'release',
    'release.resumed': 'release',
    'release.promoted': 'release',
    'release.rolled_back': 'release',
    'release.canceled': 'release',
    'release.superseded': 'release',
  },
  auditedWhenFull: ['release.rejected', 'release.rolled_back', 'release.canceled'],
  events: {
    'release.started': event(ReleaseData, { ...release, status: 'in_progress', reason: null }),
    'release.awaiting_approval': event(ReleaseData, { ...release, status: 'awaiting_approval', reason: null }),
    'release.promoted': event(ReleaseData, { ...release, status: 'baking', reason: null }),
    'release.rolled_back': event(ReleaseData, {
      ...release,
      status: 'rolled_back',
      reason: 'error_rate 0.061 is above 0.04',
    }),
    'release.finished': event(ReleaseData, { ...release, status: 'succeeded', reason: null }),
  },
  guides: { releases: 'Releases: steps, checks, approvals, rollback' },
} as const satisfies Declaration;
