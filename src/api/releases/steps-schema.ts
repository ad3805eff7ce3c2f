import { z } from 'zod';
import {
  CHECK_METRICS,
  FIXED_METRICS,
  isOfTraces,
  type OfTraces,
  type ScoreMetric,
  scoreOf,
  withoutTrace,
} from '../../domain/analysis/check.ts';
import { MAX_ERROR_RATE, MAX_SPAN_MS, SPAN, spanMs } from '../../domain/releases/release.ts';
import { EvaluatorsSchema } from '../../evaluators/registry.ts';
import { DatasetReference, MaxCost } from '../evaluations/create-schema.ts';

/** The duration of a step. */
export const Span = z
  .string('must be a duration with a unit: 30s, 30m, 6h or 2d')
  .regex(SPAN, 'must be a duration with a unit: 30s, 30m, 6h or 2d')
  .refine(
    (text) => !SPAN.test(text) || (spanMs(text) > 0 && spanMs(text) <= MAX_SPAN_MS),
    'must be more than 0 and at most 30d',
  )
  .meta({ description: 'A duration with a unit: `30s`, `30m`, `6h`, `2d`.', example: '30m' });

/** One of the given metrics, or `score:NAME`. @param ofTraces whether `trace:score:NAME` is one, too */
export function metricOf<Metric extends string>(fixed: readonly Metric[], ofTraces = false) {
  type Named = Metric | OfTraces<ScoreMetric>;
  const isMetric = (name: unknown): name is Named =>
    typeof name === 'string' &&
    name.length <= 200 &&
    ((fixed as readonly string[]).includes(name) ||
      (/^.+$/.test(scoreOf(name) ?? '') && (ofTraces || !isOfTraces(name))));
  const scores = ofTraces ? ['score:NAME', 'trace:score:NAME'] : ['score:NAME'];
  const names = new Intl.ListFormat('en', { type: 'disjunction' }).format([...fixed, ...scores]);
  return z.custom<Named>(isMetric, `must be ${names}`).meta({
    override: {
      type: 'string',
      description: `${names}.`,
      examples: ['error_rate'],
    },
  });
}

const Difference = z.number('must be a number').min(0, 'must be at least 0').max(1e9);

export const ReleaseCheck = z
  .strictObject({
    metric: metricOf(CHECK_METRICS, true).meta({
      // oasdiff takes a changed description for a removed type: metrics of traces are in the guide.
      override: {
        type: 'string',
        description: `${FIXED_METRICS.join(', ')}, or \`score:NAME\`.`,
        examples: ['error_rate'],
      },
    }),
    against: z
      .union([z.literal('stable'), z.number()], 'must be "stable" or a number')
      .default('stable')
      .meta({
        description:
          'The stable version over the same time, or a number in the unit of the metric: 0–1, ms, US dollars.',
      }),
    max_increase: Difference.optional().meta({
      description:
        'By how much it may be above: of error rates and scores a difference (0.02 is two points), of latency and cost a share (0.2 is 20 %).',
    }),
    max_decrease: Difference.optional().meta({ description: 'By how much it may be below, in the same way.' }),
    on_inconclusive: z
      .enum(['pause', 'continue', 'rollback'], 'must be pause, continue or rollback')
      .default('pause')
      .meta({
        // prose: oasdiff takes a changed description for a removed type.
        description: 'What happens where the time is over and the numbers can not tell.',
      }),
  })
  .refine(({ max_increase, max_decrease }) => max_increase !== undefined || max_decrease !== undefined, {
    message: 'is required, or set max_decrease: how much the candidate may differ',
    path: ['max_increase'],
    when: ({ issues }) => issues.length === 0,
  })
  .refine(
    ({ metric, against }) =>
      against === 'stable' || against > 0 || !['latency_p95', 'cost_mean'].includes(withoutTrace(metric)),
    {
      message: 'must be more than 0: differences of this metric are shares',
      path: ['against'],
      when: ({ issues }) => issues.length === 0,
    },
  )
  .meta({ id: 'ReleaseCheck' });

const MaxErrorRate = z
  .number('must be a number from 0 to 1')
  .min(0, 'must be at least 0')
  .max(1, 'must be at most 1')
  .optional()
  .meta({
    description:
      "The share of the candidate's executions that may fail: with more, the release is rolled back immediately, regardless of the other checks. Default: " +
      `${MAX_ERROR_RATE}. 1: any.`,
  });

const Recorded = z.boolean('must be true or false').optional().meta({
  description: 'Whether runs that applications recorded count, too. Default: only runs of the service.',
});
const Checks = z.array(ReleaseCheck).min(1, 'must have at least one check').max(20, 'must have at most 20 checks');

const Evaluate = z
  .strictObject({
    type: z.literal('evaluate'),
    dataset: DatasetReference,
    evaluators: EvaluatorsSchema,
    require: z
      .enum(['not_worse', 'better', 'threshold'], 'must be not_worse, better or threshold')
      .default('not_worse')
      .meta({
        description:
          '`not_worse`: the comparison with the stable version finds no regression that is more than noise; `better`: it finds an improvement; ' +
          '`threshold`: the score reaches `threshold`.',
      }),
    threshold: z.number().min(0).max(1).optional(),
    max_regressions: z
      .int()
      .min(0)
      .optional()
      .meta({ description: 'The number of examples that may score lower than with the stable version.' }),
    max_cost: MaxCost.optional().meta({ description: 'US dollars for each of the two evaluations, judges included.' }),
  })
  .refine(({ require, threshold }) => (require === 'threshold') === (threshold !== undefined), {
    message: 'goes with "require": "threshold"',
    path: ['threshold'],
    when: ({ issues }) => issues.length === 0,
  })
  .refine(({ evaluators }) => evaluators.every(({ type }) => type !== 'http'), {
    message: 'cannot be of type http in a release: its secret would have to be stored with the steps',
    path: ['evaluators'],
    when: ({ issues }) => issues.length === 0,
  });

const Step = z.discriminatedUnion(
  'type',
  [
    Evaluate,
    z.strictObject({
      type: z.literal('approve'),
      count: z.int().min(1).max(20).default(1).meta({ description: 'The number of keys that must approve.' }),
      exclude_author: z.boolean().default(true).meta({
        description: 'Whether to exclude the keys that created the version or started the release.',
      }),
    }),
    z.strictObject({
      type: z.literal('canary'),
      percent: z
        .number('must be a number from 0.1 to 100')
        .min(0.1, 'must be at least 0.1')
        .max(100, 'must be at most 100')
        .refine(
          (percent) => Math.abs(percent * 100 - Math.round(percent * 100)) < 1e-6,
          'must have at most two decimals',
        )
        .meta({ description: 'The share of keys that get the candidate from now on.' }),
      max_error_rate: MaxErrorRate,
    }),
    z.strictObject({
      type: z.literal('analyze'),
      for: Span,
      min_executions: z
        .int()
        .min(0)
        .max(1_000_000_000)
        .default(200)
        .meta({ description: 'The minimum number of candidate executions since the last canary step.' }),
      checks: Checks,
      recorded: Recorded,
    }),
    z.strictObject({ type: z.literal('wait'), for: Span }),
    z.strictObject({
      type: z.literal('promote'),
      bake: z
        .strictObject({
          for: Span,
          checks: Checks.or(z.array(ReleaseCheck).max(0)).default([]),
          max_error_rate: MaxErrorRate,
          recorded: Recorded,
        })
        .optional()
        .meta({
          description: 'Runs after the label has moved: a failed check moves it back.',
        }),
    }),
  ],
  'must have a type: evaluate, approve, canary, analyze, wait or promote',
);

/** The steps of a release or of a label's policy. */
export const ReleaseSteps = z
  .array(Step)
  .min(1, 'must have at least one step')
  .max(20, 'must have at most 20 steps')
  .superRefine((steps, context) => {
    let percent = 0;
    let recorded: boolean | undefined;
    for (const [index, step] of steps.entries()) {
      const fault = (message: string, field: string) =>
        context.addIssue({ code: 'custom', path: [index, field], message });
      if (step.type === 'promote' && index < steps.length - 1) fault('must be the last step', 'type');
      if (step.type === 'analyze' && percent === 0)
        fault('requires an earlier canary step: no callers get the candidate yet', 'type');
      if (step.type === 'canary' && step.percent <= percent)
        fault(`must be more than the ${percent} of the canary step before it`, 'percent');
      if (step.type === 'canary') {
        percent = step.percent;
        recorded = undefined;
      }
      if (step.type !== 'analyze') continue;
      if (recorded !== undefined && recorded !== (step.recorded ?? false))
        fault('must be the same as in the analyze step before it: both have the same numbers', 'recorded');
      recorded = step.recorded ?? false;
    }
  })
  .meta({ id: 'ReleaseSteps', description: 'The steps in order. A final `promote` step is added if missing.' });
