import { z } from 'zod';
import { EvaluatorName, MAX_SAVED_VERSIONS } from '../../evaluators/fields.ts';
import { EvaluatorConfig } from '../../evaluators/registry.ts';
import { storableString, Timestamp, wholeNumber } from '../../http/fields.ts';
import { PageQuery, pageOf } from '../../http/pagination.ts';
import { shown, unread } from '../../http/unread.ts';

const Description = storableString().trim().max(500, 'must be at most 500 characters');

export const SetSavedEvaluator = z
  .strictObject({
    evaluator: EvaluatorConfig.meta({ description: 'Its `name` is replaced by the name of the saved evaluator.' }),
    description: Description.nullable().default(null).meta({ description: 'The quality that it measures.' }),
  })
  .refine(({ evaluator: { type } }) => type !== 'http', {
    message: 'cannot be of type http: send it where it is used, since its secret belongs to that',
    path: ['evaluator', 'type'],
  })
  .refine(({ evaluator }) => evaluator.type !== 'pairwise' || evaluator.against === undefined, {
    message: 'compares with one evaluation: send it where it is used',
    path: ['evaluator', 'against'],
  })
  .meta({ id: 'SetSavedEvaluator' });

export const SavedEvaluator = z
  .object({
    name: shown(z.string()),
    version: shown(z.int()),
    versions: shown(z.int().meta({ description: 'The number of versions: the newest one.' })),
    evaluator: unread(z.looseObject({ type: z.string(), name: z.string() }), { type: '', name: '' }).meta({
      description: 'Its options, as in a request.',
    }),
    description: z.string().nullable(),
    created_at: shown(Timestamp.meta({ description: 'When the version was stored.' })),
    updated_at: shown(Timestamp),
  })
  .meta({ id: 'SavedEvaluator' });

export const SavedEvaluatorPage = pageOf(SavedEvaluator).meta({ id: 'SavedEvaluatorPage' });
export const SavedEvaluatorParams = z.object({ name: EvaluatorName.meta({ example: 'tone' }) });
export const SavedEvaluatorQuery = z.strictObject({
  version: wholeNumber({ min: 1, max: MAX_SAVED_VERSIONS, description: 'Default: the newest version.' }).optional(),
});
export const SavedEvaluatorsQuery = z.strictObject(PageQuery);

export const savedEvaluatorSample: z.input<typeof SavedEvaluator> = {
  name: 'tone',
  version: 2,
  versions: 2,
  evaluator: {
    type: 'llm_judge',
    name: 'tone',
    weight: 1,
    model: 'openai/gpt-4o-mini',
    rubric: 'Is it friendly without being familiar?',
    scale: { min: 1, max: 5 },
    include_expected: false,
    include_input: true,
    parameters: { temperature: 0 },
  },
  description: 'Friendly, but not familiar.',
  created_at: '2026-01-31T12:00:00.000Z',
  updated_at: '2026-01-31T12:00:00.000Z',
};
