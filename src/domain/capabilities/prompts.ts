import { z } from 'zod';
import { type Declaration, event } from '../capability.ts';

const PromptVersionData = z
  .strictObject({
    prompt_name: z.string(),
    version: z.int(),
    previous_version: z.int().nullable().meta({ description: 'The newest version before; null for the first one.' }),
    model: z.string(),
    commit_message: z.string().nullable(),
  })
  .meta({ id: 'PromptEventData' });

const sample = {
  prompt_name: 'support/greeting',
  version: 3,
  previous_version: 2,
  model: 'openai/gpt-4o-mini',
  commit_message: 'Greet by name',
};

export const prompts = {
  name: 'prompts',
  tags: {
    Prompts: 'Named templates or messages with model parameters. Every change of the content is a new version.',
    Labels: 'Names such as `production` that point at a version of a prompt.',
  },
  audit: {
    'prompt.created': 'prompt',
    'prompt.updated': 'prompt',
    'prompt.archived': 'prompt',
    'prompt.restored': 'prompt',
    'prompt.version_deleted': 'prompt',
    'label.moved': 'prompt',
    'label.removed': 'prompt',
    'label.protected': 'label',
    'label.unprotected': 'label',
    'label.policy_set': 'label',
    'label.policy_removed': 'label',
  },
  auditedWhenFull: ['prompt.archived', 'prompt.version_deleted', 'label.removed'],
  events: {
    'prompt.created': event(PromptVersionData, sample, true),
    'prompt.updated': event(PromptVersionData, sample, true),
  },
  quotas: {
    prompts: {
      setting: 'QUOTA_PROMPTS',
      default: 10_000,
      what: 'prompts, including archived ones',
      remedy: 'Use an existing one',
      rows: 'prompts',
    },
    promptBytes: {
      setting: 'QUOTA_PROMPT_BYTES',
      default: 1024 ** 3,
      inBytes: true,
      what: 'bytes in prompts, over all versions',
      remedy: 'Delete versions that are no longer needed (DELETE /v1/prompts/{name}/versions/{version})',
    },
  },
  guides: { prompts: 'Prompts: templates, messages, variables, includes, versions and labels' },
} as const satisfies Declaration;
