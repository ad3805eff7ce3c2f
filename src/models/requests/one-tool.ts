import type { ProviderCall } from './language-model.ts';

/** Whether the model must not call more than one tool in a response. Several are every provider's default. */
export function isOneToolAtATime({ tools, toolChoice, parameters }: ProviderCall): boolean {
  return parameters.parallel_tool_calls === false && tools.length > 0 && toolChoice !== 'none';
}
