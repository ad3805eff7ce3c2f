import type { ModelInput } from '../../../domain/prompts/messages.ts';
import type { ModelParameters } from '../../../domain/prompts/parameters.ts';
import type { IncludeSet, PromptContent } from '../../../domain/prompts/prompt-content.ts';
import type { ModelEvaluatorConfig } from '../../../evaluators/registry.ts';

/** Rather low, so that estimates based on it are rather high. */
export const CHARACTERS_PER_TOKEN = 3;
const EXPECTED_OUTPUT_TOKENS = 500;
/** The approximate tokens of a large image. */
const FILE_TOKENS = 1_500;
/** The tokens of the text around a rubric in a judge's prompt. */
const JUDGE_PROMPT_TOKENS = 300;
const EXPECTED_JUDGEMENT_TOKENS = 100;

const FILE = '.'.repeat(FILE_TOKENS * CHARACTERS_PER_TOKEN);

function isFile(value: unknown): boolean {
  return typeof value === 'object' && value !== null && 'type' in value && value.type === 'file';
}

/** Whether the input contains a file, whose number of tokens depends on its content. */
export function hasFiles(input: ModelInput): boolean {
  return typeof input !== 'string' && input.some(({ content }) => Array.isArray(content) && content.some(isFile));
}

/** Counts a file as the characters that correspond to its estimated tokens. */
const jsonChars = (value: unknown) => JSON.stringify(value, (_, part: unknown) => (isFile(part) ? FILE : part)).length;

const toolChars = ({ tools }: PromptContent) => (tools === null ? 0 : JSON.stringify(tools).length);

/** Input tokens of a prompt before its values are known. */
export function promptTokens({ content, includes }: { content: PromptContent; includes: IncludeSet }): number {
  const { template, messages } = content;
  const included = Object.values(includes).reduce((sum, { template: text }) => sum + text.length, 0);
  return ((template?.length ?? jsonChars(messages)) + included + toolChars(content)) / CHARACTERS_PER_TOKEN;
}

/** Input tokens of a filled prompt. */
export function inputTokens(content: PromptContent, input: ModelInput): number {
  const chars = typeof input === 'string' ? input.length : jsonChars(input);
  return (chars + toolChars(content)) / CHARACTERS_PER_TOKEN;
}

/** Output tokens of a call of which only the parameters are known. */
export function expectedOutputTokens({ max_tokens }: ModelParameters): number {
  return max_tokens ?? EXPECTED_OUTPUT_TOKENS;
}

/** Tokens of one of an evaluator's calls about a response, from the tokens of the call that produced the response. */
export function judgeTokens(
  config: ModelEvaluatorConfig,
  input: number,
  output: number,
): { input: number; output: number } {
  // The expected text is assumed to be as long as the output.
  if (config.type === 'similar') {
    const chars = config.values?.reduce((sum, { length }) => sum + length, 0);
    return { input: output + (chars === undefined ? output : chars / CHARACTERS_PER_TOKEN), output: 0 };
  }
  const { rubric, parameters } = config;
  const outputs = config.type === 'pairwise' ? 2 * output : output;
  return {
    input: JUDGE_PROMPT_TOKENS + rubric.length / CHARACTERS_PER_TOKEN + input + outputs,
    output: parameters.max_tokens ?? EXPECTED_JUDGEMENT_TOKENS,
  };
}
