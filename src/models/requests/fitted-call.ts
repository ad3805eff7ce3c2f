import type { ErrorDetail } from '../../domain/errors.ts';
import { type ChatMessage, textOf } from '../../domain/prompts/messages.ts';
import type { ModelParameters } from '../../domain/prompts/parameters.ts';
import { asUserText, lastMark, laterSystem, withMarksUpTo } from '../../domain/prompts/prompt.ts';
import type { Tool } from '../../domain/prompts/prompt-content.ts';
import type { Parameter, Provider } from '../providers/provider.ts';

/** Fields for earlier reasoning in an assistant's message. */
const REASONING_FIELDS = ['reasoning_content', 'reasoning_details'] as const;

/** Parameters that are dropped if a provider does not support them: the response means the same without them. */
export const OPTIONAL_PARAMETERS: readonly Parameter[] = ['top_k', 'verbosity'];

/** Messages and tools adapted to a provider, and the changes made. */
export interface FittedCall {
  messages: ChatMessage[];
  tools: Tool[];
  warnings: ErrorDetail[];
}

/**
 * Rephrases or drops what a provider does not support if the response means the same. Anything else is rejected when the request
 * is created.
 */
export function fitCall(
  provider: Provider,
  call: { messages: ChatMessage[]; tools: Tool[]; parameters: ModelParameters },
): FittedCall {
  const { name: provided, takes, places } = provider;
  const { parameters } = call;
  const { fitted: marked, leftOut } = withMarksUpTo(call, takes.cacheMarks);
  const { messages: given, tools } = marked;
  const warnings: ErrorDetail[] = [];
  const warn = (path: string, message: string) => warnings.push({ path, message });
  const later = takes.laterSystem ? new Set<number>() : laterSystem(given);
  const hasNames = !takes.names && given.some((message) => 'name' in message);
  const reasoning = takes.reasoning
    ? []
    : REASONING_FIELDS.filter((field) => given.some((message) => field in message));
  for (const index of later)
    warn(
      `messages.${index}`,
      `is sent as a user message in <system> tags: ${provided} takes system messages only before all others`,
    );
  if (hasNames) warn('messages', `are sent without their names: ${provided} has no names of messages`);
  for (const field of reasoning) warn('messages', `are sent without their ${field}: ${provided} does not accept it`);
  if (leftOut > 0)
    warn(
      call.tools.some((tool) => tool.cache_control !== undefined) ? 'tools' : 'messages',
      takes.cacheMarks === 0
        ? `are sent without cache_control: ${provided} has no marks of its cache`
        : `are sent without cache_control except for the last ${takes.cacheMarks}: ${provided} accepts no more`,
    );
  for (const parameter of OPTIONAL_PARAMETERS)
    if (parameters[parameter] !== undefined && places[parameter].length === 0)
      warn(`parameters.${parameter}`, `is left out: ${provided} has no such parameter`);
  if (later.size === 0 && !hasNames && reasoning.length === 0) return { messages: given, tools, warnings };
  const messages = given.map((message, index): ChatMessage => {
    const fitted: ChatMessage = { ...message };
    if (hasNames && 'name' in fitted) delete fitted.name;
    if (fitted.role === 'assistant') for (const field of reasoning) delete fitted[field];
    return later.has(index) ? { ...fitted, role: 'user', content: asUserContent(fitted) } : fitted;
  });
  return { messages, tools, warnings };
}

/** Converts a later system message to a user message, keeping its last cache mark. */
function asUserContent(message: ChatMessage): Extract<ChatMessage, { role: 'user' }>['content'] {
  const text = asUserText(textOf(message));
  const mark = lastMark(message.content);
  return mark === undefined ? text : [{ type: 'text', text, cache_control: mark }];
}
