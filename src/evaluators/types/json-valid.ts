import { z } from 'zod';
import { passOrFail, type ScoringEvaluator, scored } from '../evaluator.ts';
import { evaluatorFields, StripCodeFence } from '../fields.ts';
import { parseJson } from '../matching/json.ts';
import { stripCodeFence } from '../matching/text.ts';

const JsonValidConfig = z
  .strictObject({
    ...evaluatorFields('json_valid'),
    strip_code_fence: StripCodeFence,
  })
  .meta({ title: 'Valid JSON', description: 'The output is JSON.' });

type JsonValidConfig = z.output<typeof JsonValidConfig>;

/** 1 if the output is JSON (RFC 8259), otherwise 0. */
export const jsonValid: ScoringEvaluator<JsonValidConfig> & { config: typeof JsonValidConfig } = {
  kind: 'scoring',
  isPassOrFail: () => true,
  config: JsonValidConfig,
  prepare: (config) => (example) => {
    const parsed = parseJson(config.strip_code_fence ? stripCodeFence(example.output) : example.output);
    return parsed.ok ? scored(1) : passOrFail(false, `the output is ${parsed.reason}`);
  },
};
