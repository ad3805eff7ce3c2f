export { evaluationRun } from './evaluation-run.ts';
export { executePrompt } from './execute-prompt.ts';
