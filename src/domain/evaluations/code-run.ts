import { templateContent } from '../prompts/prompt-content.ts';

/** What an evaluation is of: a prompt, or code that its caller runs. */
export const EVALUATION_TARGETS = ['prompt', 'code'] as const;
export type EvaluationTarget = (typeof EVALUATION_TARGETS)[number];

/** What stands in a run of code where a run of a prompt has its version. No version of a prompt is 0. */
export const CODE = { promptVersion: 0, model: 'code', provider: 'code', content: templateContent('') } as const;

/** The type of what scores a run of code, where others have the type of their evaluator. */
export const CODE_SCORE = 'code';

/** How long a run of code goes on without results. */
export const RESULTS_DUE_HOURS = 72;

/** The error of a run of code whose program has not come back. */
export const ABANDONED = {
  code: 'abandoned',
  message: `No results have come for ${RESULTS_DUE_HOURS} hours. Retry it, and send what is left.`,
};

/** Examples of a run of code at most: it is summed up while its caller waits. */
export const MAX_CODE_EXAMPLES = 100_000;
