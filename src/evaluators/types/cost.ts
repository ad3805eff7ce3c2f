import { Big } from 'big.js';
import { z } from 'zod';
import { passOrFail, ScoringError, type ScoringEvaluator } from '../evaluator.ts';
import { evaluatorFields } from '../fields.ts';

const CostConfig = z
  .strictObject({
    ...evaluatorFields('cost'),
    at_most_usd: z
      .number()
      .min(0)
      .max(1_000_000)
      .meta({ title: 'At most, in US dollars', description: 'The cost of the output, excluding judges.' }),
  })
  .meta({ title: 'Cost', description: 'The output was cheap enough.' });

type CostConfig = z.output<typeof CostConfig>;

/** 1 if the output cost at most this much, otherwise 0. */
export const cost: ScoringEvaluator<CostConfig> & { config: typeof CostConfig } = {
  kind: 'scoring',
  isPassOrFail: () => true,
  config: CostConfig,
  prepare: ({ at_most_usd: limit }) => {
    const most = new Big(limit);
    return ({ costUsd = null }) => {
      if (costUsd === null) throw new ScoringError('not_measured', 'the cost of the output is unknown');
      const paid = new Big(costUsd);
      return passOrFail(paid.lte(most), `the output cost ${paid.toFixed()} USD, more than ${most.toFixed()}`);
    };
  },
};
