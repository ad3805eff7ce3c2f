import { z } from 'zod';

const Interval = z.object({ lower: z.number(), upper: z.number() }).nullable();

export const Measure = z
  .object({
    name: z.enum([
      'cohen_kappa',
      'weighted_kappa_linear',
      'weighted_kappa_quadratic',
      'spearman_rho',
      'krippendorff_alpha',
    ]),
    value: z.number().nullable().meta({ description: '1: perfect agreement; 0: chance level. Null if undefined.' }),
    interval: Interval.meta({ description: 'The 95 % interval.' }),
  })
  .meta({ id: 'AgreementMeasure' });
