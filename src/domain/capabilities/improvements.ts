import { z } from 'zod';
import { type Declaration, event } from '../capability.ts';
import { publicIdPattern } from '../ids.ts';

const named = {
  improvement_id: z.string().regex(publicIdPattern('improvement')),
  prompt_name: z.string(),
};

const ImprovementCompletedData = z
  .strictObject({
    ...named,
    result: z
      .string()
      .meta({ description: '`improvement`, `regression`, `no_proof` or `no_candidate`; more may be added.' }),
    difference: z.number().nullable().meta({ description: 'The difference of the mean scores on held-out examples.' }),
    p_value: z.number().nullable(),
    candidate: z.int().nullable().meta({ description: 'The number of the candidate that was tested.' }),
  })
  .meta({ id: 'ImprovementCompletedData' });

const ImprovementFailedData = z
  .strictObject({ ...named, error: z.strictObject({ code: z.string(), message: z.string() }) })
  .meta({ id: 'ImprovementFailedData' });

const improvement = {
  improvement_id: 'imp_0198f0aa-7e5c-7c3a-9d55-0c9f6f1f2a11',
  prompt_name: 'support/greeting',
};

export const improvements = {
  name: 'improvements',
  tags: {
    Improvements: 'Searches for a better version of a prompt, with a limit of costs and a verdict on unseen examples.',
  },
  ids: ['improvement'],
  audit: {
    'improvement.started': 'improvement',
    'improvement.paused': 'improvement',
    'improvement.resumed': 'improvement',
    'improvement.finished': 'improvement',
    'improvement.canceled': 'improvement',
    'improvement.retried': 'improvement',
    'improvement.accepted': 'improvement',
    'improvement.deleted': 'improvement',
  },
  auditedWhenFull: ['improvement.canceled', 'improvement.deleted'],
  events: {
    'improvement.completed': event(ImprovementCompletedData, {
      ...improvement,
      result: 'improvement',
      difference: 0.124,
      p_value: 0.0013,
      candidate: 17,
    }),
    'improvement.failed': event(ImprovementFailedData, {
      ...improvement,
      error: { code: 'evaluation_ended', message: 'An evaluation that the result depends on was ended or deleted.' },
    }),
  },
  quotas: {
    improvements: {
      setting: 'QUOTA_IMPROVEMENTS',
      default: 10,
      what: 'unfinished improvements',
      remedy: 'Cancel one, or wait for its end',
    },
  },
  guides: { improvements: 'Improvements: searching for a better prompt' },
} as const satisfies Declaration;
