import { z } from 'zod';
import type { JsonValue } from '../domain/json.ts';
import { ScoringError, type ScoringEvaluator, scored } from './evaluator.ts';
import { evaluatorFields } from './fields.ts';
import { parseJson } from './json.ts';
import { compileSchema, type SchemaCheck, schemaFault } from './schema-compiler.ts';
import { shorten, stripCodeFence } from './text.ts';
import { limitTime, type TimeLimited } from './time-limit.ts';

/** Violations named in a reason. */
const LISTED_VIOLATIONS = 3;
/**
 * Milliseconds for collecting all violations after the first; past them the reason names the first only. They can be
 * millions, and take memory for as long as they are collected.
 */
const EXPLAIN_LIMIT_MS = 100;

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
    const withCheck = limitTime(() => compileSchema(config.schema, false));
    const withExplainer = limitTime(() => compileSchema(config.schema, true), EXPLAIN_LIMIT_MS);
    return (example) => {
      const parsed = parseJson(config.strip_code_fence ? stripCodeFence(example.output) : example.output);
      if (!parsed.ok) return scored(0, `the output is ${parsed.reason}`);
      const violations = withCheck((check) => check(parsed.value));
      if (violations.length === 0) return scored(1);
      return scored(0, summarize(explain(withExplainer, parsed.value) ?? violations));
    };
  },
};

function explain(withExplainer: TimeLimited<SchemaCheck>, value: JsonValue): string[] | null {
  try {
    return withExplainer((check) => check(value));
  } catch (error) {
    if (error instanceof ScoringError) return null;
    throw error;
  }
}

function summarize(violations: readonly string[]): string {
  const listed = violations.slice(0, LISTED_VIOLATIONS).map((violation) => shorten(violation, 140));
  const more = violations.length - listed.length;
  return `${listed.join('; ')}${more > 0 ? `; and ${more} more` : ''}`;
}
