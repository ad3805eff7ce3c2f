import { templateContent } from '../prompts/prompt-content.ts';

/** What is evaluated: a prompt, or code that its caller runs. */
export const EVALUATION_TARGETS = ['prompt', 'code'] as const;
export type EvaluationTarget = (typeof EVALUATION_TARGETS)[number];

/** Replaces the version in runs of code or of a draft. No prompt version has the number 0. */
export const NO_VERSION = 0;

/** Replaces the content in runs of code. */
export const CODE = {
  promptVersion: NO_VERSION,
  model: 'code',
  provider: 'code',
  content: templateContent(''),
} as const;

/** The type of the scores of a run of code, instead of the type of an evaluator. */
export const CODE_SCORE = 'code';

/** How long a run of code waits for results. */
export const RESULTS_DUE_HOURS = 72;

/** The error of a run of code whose program sends no more results. */
export const ABANDONED = {
  code: 'abandoned',
  message: `No results were received for ${RESULTS_DUE_HOURS} hours. Retry the run and send the remaining results.`,
};

/** The maximum number of examples of a run of code, which is summed up while its caller waits. */
export const MAX_CODE_EXAMPLES = 100_000;

/** `support/greeting v3`; without a version for a draft. */
export const promptOf = ({ promptName, promptVersion }: { promptName: string; promptVersion: number }): string =>
  promptVersion === NO_VERSION ? promptName : `${promptName} v${promptVersion}`;
