export { executePrompt } from './execute-prompt.ts';
