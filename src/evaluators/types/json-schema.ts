import { z } from 'zod';
import { jsonObject } from '../../domain/text/json-object.ts';
import { type ScoringEvaluator, scored } from '../evaluator.ts';
import { evaluatorFields, StripCodeFence } from '../fields.ts';
import { parseJson } from '../matching/json.ts';
import { compileSchema, schemaFault } from '../matching/schema-compiler.ts';
import { shorten, stripCodeFence } from '../matching/text.ts';

/** Number of violations named in a reason. */
const LISTED_VIOLATIONS = 3;
/**
 * Beyond these sizes the reason names only the first violation. There can be millions, and collecting all takes time
 * proportional to the schema times the output.
 */
const MAX_EXPLAINING_SCHEMA = 16_384;
const MAX_EXPLAINED_WORK = 50_000_000;

const JsonSchemaConfig = z
  .strictObject({
    ...evaluatorFields('json_schema'),
    schema: jsonObject().meta({
      title: 'Schema',
      description: 'Draft 2020-12, or draft-07 where `$schema` says so; at most 64 KiB.',
      example: { type: 'object', required: [], properties: {} },
    }),
    strip_code_fence: StripCodeFence,
  })
  .meta({ title: 'JSON schema', description: 'The output is JSON that is valid against a schema.' });

type JsonSchemaConfig = z.output<typeof JsonSchemaConfig>;

/** 1 if the output is JSON that matches the schema, otherwise 0 with the first violations. */
export const jsonSchema: ScoringEvaluator<JsonSchemaConfig> & { config: typeof JsonSchemaConfig } = {
  kind: 'scoring',
  isPassOrFail: () => true,
  config: JsonSchemaConfig,
  fault(config) {
    const fault = schemaFault(config.schema);
    return fault === null ? null : { option: 'schema', message: shorten(fault, 500) };
  },
  prepare(config) {
    const check = compileSchema(config.schema, false);
    const size = JSON.stringify(config.schema).length;
    const explain = size <= MAX_EXPLAINING_SCHEMA ? compileSchema(config.schema, true) : undefined;
    return (example) => {
      const parsed = parseJson(config.strip_code_fence ? stripCodeFence(example.output) : example.output);
      if (!parsed.ok) return scored(0, `the output is ${parsed.reason}`);
      const violations = check(parsed.value);
      if (violations.length === 0) return scored(1);
      const explained = example.output.length * size <= MAX_EXPLAINED_WORK ? explain?.(parsed.value) : undefined;
      return scored(0, summarize(explained ?? violations));
    };
  },
};

function summarize(violations: readonly string[]): string {
  const listed = violations.slice(0, LISTED_VIOLATIONS).map((violation) => shorten(violation, 140));
  const more = violations.length - listed.length;
  return `${listed.join('; ')}${more > 0 ? `; and ${more} more` : ''}`;
}
