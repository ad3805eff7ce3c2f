import { templateContent } from '../prompts/prompt-content.ts';

/** What an evaluation is of: a prompt, or code that its caller runs. */
export const EVALUATION_TARGETS = ['prompt', 'code'] as const;
export type EvaluationTarget = (typeof EVALUATION_TARGETS)[number];

/** What stands in place of the version where a run is of code or of a draft. No version of a prompt is 0. */
export const NO_VERSION = 0;

/** What stands in a run of code where a run of a prompt has its content. */
export const CODE = {
  promptVersion: NO_VERSION,
  model: 'code',
  provider: 'code',
  content: templateContent(''),
} as const;

/** The type of what scores a run of code, where others have the type of their evaluator. */
export const CODE_SCORE = 'code';

/** How long a run of code goes on without results. */
export const RESULTS_DUE_HOURS = 72;

/** The error of a run of code whose program has not come back. */
export const ABANDONED = {
  code: 'abandoned',
  message: `No results were received for ${RESULTS_DUE_HOURS} hours. Retry the run and send the remaining results.`,
};

/** Examples of a run of code at most: it is summed up while its caller waits. */
export const MAX_CODE_EXAMPLES = 100_000;

/** `support/greeting v3`; without a version for a draft. */
export const promptOf = ({ promptName, promptVersion }: { promptName: string; promptVersion: number }): string =>
  promptVersion === NO_VERSION ? promptName : `${promptName} v${promptVersion}`;
