import type { ProviderCall } from './language-model.ts';

/** Whether the model must call at most one tool per response. Every provider allows several by default. */
export function isOneToolAtATime({ tools, toolChoice, parameters }: ProviderCall): boolean {
  return parameters.parallel_tool_calls === false && tools.length > 0 && toolChoice !== 'none';
}
