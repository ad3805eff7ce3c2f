import type { ErrorDetail } from '../../domain/errors.ts';
import { type ChatMessage, textOf } from '../../domain/prompts/messages.ts';
import type { ModelParameters } from '../../domain/prompts/parameters.ts';
import { asUserText, laterSystem } from '../../domain/prompts/prompt.ts';
import type { Parameter, Provider } from '../providers/provider.ts';

/** Parameters that are left out where a provider has none of the kind: the response means the same without them. */
export const OPTIONAL_PARAMETERS: readonly Parameter[] = ['top_k', 'verbosity'];

/** Messages as a provider has a place for them, and what was changed for that. */
export interface FittedMessages {
  messages: ChatMessage[];
  warnings: ErrorDetail[];
}

/**
 * What a provider has no place for is said in another way or left out, where the response means the same. Anything else is refused
 * when the request is made.
 */
export function fitMessages(provider: Provider, given: ChatMessage[], parameters: ModelParameters): FittedMessages {
  const { name: provided, takes, places } = provider;
  const warnings: ErrorDetail[] = [];
  const warn = (path: string, message: string) => warnings.push({ path, message });
  const later = takes.laterSystem ? new Set<number>() : laterSystem(given);
  const hasNames = !takes.names && given.some((message) => 'name' in message);
  const hasReasoning = !takes.reasoning && given.some((message) => 'reasoning_content' in message);
  for (const index of later)
    warn(
      `messages.${index}`,
      `is sent as a user message in <system> tags: ${provided} takes system messages only before all others`,
    );
  if (hasNames) warn('messages', `are sent without their names: ${provided} has no names of messages`);
  if (hasReasoning) warn('messages', `are sent without their reasoning_content: ${provided} does not take it back`);
  for (const parameter of OPTIONAL_PARAMETERS)
    if (parameters[parameter] !== undefined && places[parameter].length === 0)
      warn(`parameters.${parameter}`, `is left out: ${provided} has no such parameter`);
  if (later.size === 0 && !hasNames && !hasReasoning) return { messages: given, warnings };
  const messages = given.map((message, index): ChatMessage => {
    const fitted: ChatMessage = { ...message };
    if (hasNames && 'name' in fitted) delete fitted.name;
    if (hasReasoning && 'reasoning_content' in fitted) delete fitted.reasoning_content;
    return later.has(index) ? { ...fitted, role: 'user', content: asUserText(textOf(fitted)) } : fitted;
  });
  return { messages, warnings };
}
