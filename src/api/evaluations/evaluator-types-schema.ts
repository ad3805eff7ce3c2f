import { z } from 'zod';
import { jsonObject } from '../../domain/text/json-object.ts';
import { pageOf } from '../../http/pagination.ts';

export const EvaluatorType = z
  .object({
    type: z.string(),
    title: z.string(),
    description: z.string().meta({ description: 'When the score is 1.' }),
    options: jsonObject().meta({
      override: {
        type: 'object',
        additionalProperties: {},
        description:
          'A JSON schema of the options, except those common to all evaluators (`type`, `name`, `weight`). You can render a form from it: ' +
          '`title` and `description` are display texts, `x-enumDescriptions` the display texts of `enum` values; `x-field` names a control ' +
          'other than the default of the type: `long-text`, `model`, `json`, or `none`.',
      },
    }),
  })
  .meta({ id: 'EvaluatorType' });

export const EvaluatorTypeList = pageOf(EvaluatorType).meta({ id: 'EvaluatorTypeList' });
