import { z } from 'zod';
import { createSchema } from 'zod-openapi';
import { jsonObject } from '../../domain/text/json-object.ts';
import { EvaluatorConfig } from '../../evaluators/registry.ts';
import { FixedText } from '../../http/compression.ts';
import { withoutNoise } from '../../http/openapi.ts';
import { pageOf } from '../../http/pagination.ts';
import { defineRoute, type Route } from '../../http/route.ts';

const EvaluatorType = z
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

const EvaluatorTypeList = pageOf(EvaluatorType).meta({ id: 'EvaluatorTypeList' });

const Json = z.record(z.string(), z.json());
const Titled = z.object({ title: z.string(), description: z.string() });
/** The JSON schema of an evaluator as callers send it. */
const Schema = z.object({ type: z.literal('object'), properties: Json, required: z.array(z.string()) });

/** Fields common to every evaluator, not options of its type. */
const COMMON = ['type', 'name', 'weight', 'saved_version'];
/** Options common to every evaluator, listed after the type's own. */
const LAST = ['threshold', 'negate'];

/** Describes all evaluators from the schemas that validate them. */
function evaluatorTypes(): z.input<typeof EvaluatorType>[] {
  return EvaluatorConfig.options.map((config) => {
    const { schema } = createSchema(config, { io: 'input', opts: { override: withoutNoise } });
    const { type, properties, required } = Schema.parse(schema);
    const names = Object.keys(properties).filter((name) => !COMMON.includes(name) && !LAST.includes(name));
    const options = {
      type,
      properties: Object.fromEntries([...names, ...LAST].map((name) => [name, properties[name] ?? {}])),
      required: required.filter((name) => !COMMON.includes(name)),
      additionalProperties: false,
    };
    return { type: config.shape.type.value, ...Titled.parse(config.meta()), options };
  });
}

/** `GET /evaluators` */
export function evaluatorTypesRoute(): Route {
  const data = evaluatorTypes();
  const list = new FixedText(JSON.stringify({ data, next_cursor: null }));
  return defineRoute({
    method: 'get',
    path: '/evaluators',
    operationId: 'listEvaluators',
    tag: 'Evaluations',
    summary: 'List the types of evaluators, with their options',
    description: 'Returns every evaluator type that an evaluation supports, in one page.',
    scope: 'read',
    response: EvaluatorTypeList,
    responseExample: { data: data.filter(({ type }) => type === 'json_valid'), next_cursor: null },
    handler: async () => list,
  });
}
