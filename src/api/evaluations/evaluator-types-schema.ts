import { z } from 'zod';
import { jsonObject } from '../../domain/text/json-object.ts';
import { pageOf } from '../../http/pagination.ts';

export const EvaluatorType = z
  .object({
    type: z.string(),
    title: z.string(),
    description: z.string().meta({ description: 'What gives a score of 1.' }),
    options: jsonObject().meta({
      override: {
        type: 'object',
        additionalProperties: {},
        description:
          'A JSON schema of the options, without those that every evaluator has (`type`, `name`, `weight`). A form can be drawn from it: ' +
          '`title` and `description` are texts for people, `x-enumDescriptions` those of the values of an `enum`; `x-field` is a control ' +
          'other than the one that the type has: `long-text`, `model`, `json`, or `none`.',
      },
    }),
  })
  .meta({ id: 'EvaluatorType' });

export const EvaluatorTypeList = pageOf(EvaluatorType).meta({ id: 'EvaluatorTypeList' });
