import { z } from 'zod';
import { ScoreName } from '../../domain/scores/score-name.ts';
import { CreationTime, Name, wholeNumber } from '../../http/fields.ts';
import { ScoreValue } from '../queues/schema.ts';
import { Measure } from '../scores/measure.ts';

const Flag = z
  .enum(['true', 'false'], 'must be true or false')
  .default('false')
  .transform((text) => text === 'true');

export const AgreementQuery = z.strictObject({
  score: ScoreName.meta({ description: 'The name of the score that both evaluators and people give.' }),
  rule: Name.optional().meta({ description: 'Only evaluators of this rule.' }),
  feedback: Flag.meta({ description: 'Whether scores submitted with feedback tokens count, too.' }),
  ordered: Flag.meta({
    description: 'Whether the categories of the definition are ordered. If so, weighted kappas are added.',
  }),
  ...CreationTime,
  disagreements: wholeNumber({
    min: 0,
    max: 100,
    description: 'The number of disagreements to show for each version.',
    byDefault: 20,
  }).default(20),
});

const Disagreement = z.object({
  subject: z.object({
    execution_id: z.string().optional(),
    evaluation_id: z.string().optional(),
    example_id: z.string().optional(),
    trace_id: z.string().optional(),
    span_id: z.string().optional(),
    conversation_id: z.string().optional(),
  }),
  evaluator: ScoreValue,
  people: ScoreValue,
  reviewers: z.int().meta({ description: 'The number of people who scored it.' }),
  distance: z.number(),
  reason: z.string().nullable().meta({ description: "The evaluator's reason, truncated to 500 characters." }),
});

export const Agreement = z
  .object({
    score: z.string(),
    data_type: z.enum(['numeric', 'boolean', 'categorical']),
    truncated: z.boolean().meta({
      description:
        'Whether a limit of the comparison was exceeded: 20,000 human scores, 100,000 evaluator scores, 50 versions.',
    }),
    evaluators: z.array(
      z.object({
        rule: z.string(),
        version: z.string(),
        model: z.string().nullable(),
        n: z.int().meta({ description: 'Subjects scored by both the evaluator and people.' }),
        undecided: z.int().meta({ description: 'Subjects left out because people disagree with each other.' }),
        measures: z.array(Measure).meta({ description: 'The verdict is based on the first one.' }),
        same: z
          .number()
          .nullable()
          .meta({ description: 'The share of subjects with exactly the same score from both.' }),
        mean_distance: z.number().nullable().meta({ description: 'The mean distance between numeric scores.' }),
        better_than_chance: z.boolean().nullable().meta({ description: 'Null if it cannot be determined.' }),
        verdict: z.string(),
        disagreements_total: z.int(),
        disagreements: z.array(Disagreement).meta({ description: 'Largest distance first.' }),
      }),
    ),
  })
  .meta({ id: 'EvaluatorAgreement' });
