import { z } from 'zod';
import { passOrFail, type ScoringEvaluator, scored } from './evaluator.ts';
import { evaluatorFields } from './fields.ts';
import { parseJson } from './json.ts';
import { compileSchema, schemaFault } from './schema-compiler.ts';
import { shorten, stripCodeFence } from './text.ts';
import { limitTime } from './time-limit.ts';

/** Violations named in a reason. */
const LISTED_VIOLATIONS = 3;
/** In a longer output only the first violation is sought: all of them could be hundreds of thousands. */
const MAX_LENGTH_FOR_ALL_VIOLATIONS = 65_536;

const JsonSchemaConfig = z
  .strictObject({
    ...evaluatorFields('json_schema'),
    /** Draft 2020-12, or draft-07 where `$schema` says so; at most 64 KiB. */
    schema: z.record(z.string(), z.unknown()),
    /** Also takes JSON inside a Markdown code block. */
    strip_code_fence: z.boolean().default(false),
  })
  .superRefine((config, context) => {
    const fault = schemaFault(config.schema);
    if (fault !== null) context.addIssue({ code: 'custom', path: ['schema'], message: shorten(fault, 500) });
  });

type JsonSchemaConfig = z.output<typeof JsonSchemaConfig>;

/** 1 when the output is JSON that holds to the schema, else 0 with the first violations. */
export const jsonSchema: ScoringEvaluator<JsonSchemaConfig> & { config: typeof JsonSchemaConfig } = {
  kind: 'scoring',
  config: JsonSchemaConfig,
  prepare(config) {
    const withFullCheck = limitTime(() => compileSchema(config.schema, true));
    const withQuickCheck = limitTime(() => compileSchema(config.schema, false));
    return (example) => {
      const parsed = parseJson(config.strip_code_fence ? stripCodeFence(example.output) : example.output);
      if (!parsed.ok) return scored(0, `the output is ${parsed.reason}`);
      const limited = example.output.length > MAX_LENGTH_FOR_ALL_VIOLATIONS ? withQuickCheck : withFullCheck;
      const violations = limited((check) => check(parsed.value));
      return passOrFail(violations.length === 0, summarize(violations));
    };
  },
};

function summarize(violations: readonly string[]): string {
  const listed = violations.slice(0, LISTED_VIOLATIONS).map((violation) => shorten(violation, 140));
  const more = violations.length - listed.length;
  return `${listed.join('; ')}${more > 0 ? `; and ${more} more` : ''}`;
}
