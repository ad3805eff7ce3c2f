import { z } from 'zod';
import { createSchema } from 'zod-openapi';
import { EvaluatorConfig } from '../../evaluators/registry.ts';
import { FixedText } from '../../http/compression.ts';
import { withoutNoise } from '../../http/openapi.ts';
import { defineRoute, type Route } from '../../http/route.ts';
import { type EvaluatorType, EvaluatorTypeList } from './evaluator-types-schema.ts';

const Json = z.record(z.string(), z.json());
const Titled = z.object({ title: z.string(), description: z.string() });
/** Of an evaluator's fields as callers send them. */
const Schema = z.object({ type: z.literal('object'), properties: Json, required: z.array(z.string()) });

/** What every evaluator has, and is no option of its type. */
const COMMON = ['type', 'name', 'weight'];
/** Options that every evaluator has: they come after its own. */
const LAST = ['threshold', 'negate'];

/** All evaluators, described by the schemas that validate them. */
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
