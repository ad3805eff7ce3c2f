import { z } from 'zod';
import { ScoreName } from '../../domain/scores/score-name.ts';
import { CreationTime, Name, wholeNumber } from '../../http/fields.ts';
import { Measure, ScoreValue } from '../queues/schema.ts';

const Flag = z
  .enum(['true', 'false'], 'must be true or false')
  .default('false')
  .transform((text) => text === 'true');

export const AgreementQuery = z.strictObject({
  score: ScoreName.meta({ description: 'The name of the score that both evaluators and people give.' }),
  rule: Name.optional().meta({ description: 'Only evaluators of this rule.' }),
  feedback: Flag.meta({ description: 'Whether what users say by feedback tokens counts, too.' }),
  ordered: Flag.meta({ description: 'Whether the categories of the definition are in order: adds weighted kappas.' }),
  ...CreationTime,
  disagreements: wholeNumber({
    min: 0,
    max: 100,
    description: 'How many are shown of each version.',
    byDefault: 20,
  }).default(20),
});

const Disagreement = z.object({
  subject: z.object({
    execution_id: z.string().optional(),
    evaluation_id: z.string().optional(),
    example_id: z.string().optional(),
  }),
  evaluator: ScoreValue,
  people: ScoreValue,
  reviewers: z.int().meta({ description: 'How many people.' }),
  distance: z.number(),
  reason: z.string().nullable().meta({ description: "The evaluator's, cut after 500 characters." }),
});

export const Agreement = z
  .object({
    score: z.string(),
    data_type: z.enum(['numeric', 'boolean', 'categorical']),
    truncated: z.boolean().meta({
      description:
        'Whether there is more than is compared: 20,000 scores of people, 100,000 of evaluators, 50 versions.',
    }),
    evaluators: z.array(
      z.object({
        rule: z.string(),
        version: z.string(),
        model: z.string().nullable(),
        n: z.int().meta({ description: 'Subjects that both have scored.' }),
        undecided: z.int().meta({ description: 'Subjects left out, since people disagree among themselves.' }),
        measures: z.array(Measure).meta({ description: 'The verdict rests on the first.' }),
        same: z.number().nullable().meta({ description: 'The share of subjects on which both say exactly the same.' }),
        mean_distance: z.number().nullable().meta({ description: 'Of numbers.' }),
        better_than_chance: z.boolean().nullable().meta({ description: 'Null: it cannot be told.' }),
        verdict: z.string(),
        disagreements_total: z.int(),
        disagreements: z.array(Disagreement).meta({ description: 'The largest first.' }),
      }),
    ),
  })
  .meta({ id: 'EvaluatorAgreement' });
