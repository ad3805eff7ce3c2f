import { z } from 'zod';
import { ModelParameters } from '../../domain/prompts/parameters.ts';
import { readableOutput } from '../../domain/text/readable-messages.ts';
import { type Example, type Judgement, type JudgingEvaluator, scored } from '../evaluator.ts';
import { evaluatorFields } from '../fields.ts';
import { isJsonValue, parseJson, toPlainText } from '../matching/json.ts';
import { quote, stripCodeFence } from '../matching/text.ts';
import { buildJudgePrompt } from './judge-prompt.ts';

const Scale = z
  .strictObject({
    min: z.int().min(-1_000).max(1_000).meta({ title: 'Lowest grade' }),
    max: z.int().min(-1_000).max(1_000).meta({ title: 'Highest grade' }),
  })
  .refine((scale) => scale.min < scale.max, { path: ['max'], error: 'must be above min' });

const LlmJudgeConfig = z
  .strictObject({
    ...evaluatorFields('llm_judge'),
    model: z
      .string()
      .min(1)
      .max(200)
      .meta({ title: 'Model of the judge', description: 'As in a prompt.', 'x-field': 'model' }),
    rubric: z.string().trim().min(1).max(20_000).meta({
      title: 'Rubric',
      description: 'What a good output is, and what each grade means.',
      'x-field': 'long-text',
    }),
    scale: Scale.default({ min: 1, max: 5 }).meta({ title: 'Grades', description: 'Brought to a score of 0–1.' }),
    include_expected: z.boolean().default(true).meta({ title: 'Show it the expected value' }),
    include_input: z.boolean().default(true).meta({ title: 'Show it the prompt' }),
    parameters: ModelParameters.omit({ response_format: true }).default({}).meta({
      title: 'Parameters of the judge',
      description: 'Such as {"temperature": 0}; all but `response_format`, which this evaluator sets.',
      'x-field': 'json',
    }),
  })
  .meta({ title: 'Model as a judge', description: 'A model grades the output.' });

type LlmJudgeConfig = z.output<typeof LlmJudgeConfig>;

/** Characters of a judge's response that are read: a score and its reason take a few hundred. */
const MAX_RESPONSE_LENGTH = 100_000;

/** A judge may add fields of its own. */
const JudgeResponse = z.object({ reason: z.string(), score: z.number() });

/** Asks a model for a grade by a rubric, and brings it to 0..1. */
export const llmJudge: JudgingEvaluator<LlmJudgeConfig> & { config: typeof LlmJudgeConfig } = {
  kind: 'judging',
  config: LlmJudgeConfig,
  prepare: (config) => ({
    model: config.model,
    request: (example) => ({
      input: buildJudgePrompt({ rubric: config.rubric, scale: config.scale, sections: sectionsOf(config, example) }),
      parameters: { ...config.parameters, response_format: responseFormat(config.scale) },
    }),
    read: (response) => readResponse(response, config.scale),
  }),
};

function sectionsOf(config: LlmJudgeConfig, example: Example) {
  const sections = [{ title: 'Output', text: readableOutput(example.output, example.toolCalls) }];
  if (config.include_expected && example.expected !== undefined) {
    const shown = isJsonValue(example.expected) ? toPlainText(example.expected) : '(nested too deeply to show)';
    sections.unshift({ title: 'Expected', text: shown });
  }
  if (config.include_input) sections.unshift({ title: 'Prompt', text: example.input });
  return sections;
}

/** The reason comes first, so that the score follows from it. Providers differ in the bounds they take; `read` checks them. */
function responseFormat(scale: LlmJudgeConfig['scale']): NonNullable<ModelParameters['response_format']> {
  return {
    type: 'json_schema',
    json_schema: {
      name: 'judgement',
      strict: true,
      schema: {
        type: 'object',
        properties: {
          reason: { type: 'string', description: 'Why, in one or two sentences.' },
          score: { type: 'integer', description: `A whole number from ${scale.min} to ${scale.max}.` },
        },
        required: ['reason', 'score'],
        additionalProperties: false,
      },
    },
  };
}

/**
 * Reads JSON, also from a code block. A grade off the scale is refused and not moved to its end: a judge that responds with
 * 85 on a scale of 1 to 5 has not read the question, and 5 would be a guess in its favour.
 */
function readResponse(response: string, scale: LlmJudgeConfig['scale']): Judgement {
  if (response.length > MAX_RESPONSE_LENGTH)
    return unusable(`its response is longer than ${MAX_RESPONSE_LENGTH} characters`);
  const parsed = parseJson(stripCodeFence(response));
  if (!parsed.ok) return unusable(`its response is ${parsed.reason}`);
  const judgement = JudgeResponse.safeParse(parsed.value);
  if (!judgement.success) return unusable(`its response lacks a reason and a numeric score: ${quote(response)}`);
  const { reason, score } = judgement.data;
  if (score < scale.min || score > scale.max) {
    return unusable(`its score ${score} is not between ${scale.min} and ${scale.max}`);
  }
  return { usable: true, score: scored((score - scale.min) / (scale.max - scale.min), reason) };
}

function unusable(why: string): Judgement {
  return { usable: false, reason: `the judge gave no usable score: ${why}` };
}
