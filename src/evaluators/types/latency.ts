import { z } from 'zod';
import { passOrFail, ScoringError, type ScoringEvaluator } from '../evaluator.ts';
import { evaluatorFields } from '../fields.ts';

const LatencyConfig = z
  .strictObject({
    ...evaluatorFields('latency'),
    at_most_ms: z.int().min(1).max(3_600_000).meta({
      title: 'At most, in milliseconds',
      description: 'The duration of the model call that produced the output, excluding earlier waits.',
    }),
  })
  .meta({ title: 'Latency', description: 'The model responded in time.' });

type LatencyConfig = z.output<typeof LatencyConfig>;

/** 1 if the model responded in time, otherwise 0. */
export const latency: ScoringEvaluator<LatencyConfig> & { config: typeof LatencyConfig } = {
  kind: 'scoring',
  isPassOrFail: () => true,
  config: LatencyConfig,
  prepare:
    ({ at_most_ms: limit }) =>
    ({ modelMs = null }) => {
      if (modelMs === null) throw new ScoringError('not_measured', 'the duration of the model call is unknown');
      return passOrFail(modelMs <= limit, `the call to the model took ${modelMs} ms, more than ${limit}`);
    },
};
