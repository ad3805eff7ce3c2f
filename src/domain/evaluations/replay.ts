import { z } from 'zod';
import { type ChatMessage, messagesOf } from '../prompts/messages.ts';
import { parsePrompt, TemplateVariablesError, type Variables } from '../prompts/prompt.ts';
import type { IncludeSet, PromptContent } from '../prompts/prompt-content.ts';
import type { JsonValue } from '../text/json.ts';

// Another version of a prompt for calls that were made before: what it sends instead.

/** The variable of a replayed example that has all messages of the call. */
export const CONVERSATION = 'conversation';

/** Sends the messages of a replayed example, with the tools of the version. */
export const replayContent = ({ tools, tool_choice }: Pick<PromptContent, 'tools' | 'tool_choice'>): PromptContent => ({
  template: null,
  messages: [{ placeholder: CONVERSATION }],
  tools,
  tool_choice,
  inputs: null,
});

/** Why a call is left out. */
export const LEFT_OUT_REASONS = [
  'no_input',
  'no_output',
  'no_system_message',
  'does_not_fit',
  'too_large',
  'deleted',
] as const;
type LeftOutReason = (typeof LEFT_OUT_REASONS)[number];

/** Why a call can't be replayed, and what could be changed. */
export interface Fault {
  reason: LeftOutReason;
  message: string;
}

export const NO_INPUT: Fault = { reason: 'no_input', message: 'its input is not stored' };
export const NO_OUTPUT: Fault = { reason: 'no_output', message: 'it has neither an output nor tool calls' };

/** What an evaluation was made from, as stored. */
export const FromExecutions = z.object({
  matched: z.int().meta({ description: 'The number of executions that the selection found.' }),
  left_out: z
    .array(
      z.object({
        reason: z
          .string()
          .meta({ description: 'Minor versions may add values.', 'x-extensible-enum': [...LEFT_OUT_REASONS] }),
        message: z.string(),
        count: z.int(),
        execution_ids: z.array(z.string()).meta({ description: 'The first of them, at most 5.' }),
      }),
    )
    .meta({ description: 'The executions that could not be used, by reason.' }),
});
export type FromExecutions = z.infer<typeof FromExecutions>;

/** A call that was made before. */
export interface RecordedCall {
  variables: Variables;
  messages: ChatMessage[];
  /** How many of the messages its prompt version wrote; the caller added the others. Undefined if unknown. */
  opening: number | undefined;
}

const isFault = (result: ChatMessage[] | Fault): result is Fault => !Array.isArray(result);

/** The system messages at the beginning. */
const leadOf = <M extends { role: string } | { placeholder: string }>(messages: readonly M[]): M[] => {
  const end = messages.findIndex((message) => !('role' in message) || message.role !== 'system');
  return messages.slice(0, end === -1 ? messages.length : end);
};

/** The content without all that follows its leading system messages. Null if it has none. */
function leadContent(content: PromptContent, includes: IncludeSet): PromptContent | null {
  const messages = leadOf(content.messages ?? []);
  if (messages.length === 0) return null;
  const { names } = parsePrompt({ ...content, messages, inputs: null }, includes);
  const inputs = Object.entries(content.inputs ?? {}).filter(([name]) => names.includes(name));
  return { ...content, messages, inputs: Object.fromEntries(inputs) };
}

/**
 * @returns a function that says what a version sends instead of a call: if the version of the call is known, the prompt is filled with the
 * variables of the call, and followed by what its caller added. Otherwise the prompt's leading system messages replace those of the call.
 */
export function createReplay(content: PromptContent, includes: IncludeSet) {
  const whole = parsePrompt(content, includes);
  const lead = leadContent(content, includes);
  const leading = lead && parsePrompt(lead, includes);
  const sent = parsePrompt(replayContent(content));

  function fill({ variables, messages, opening }: RecordedCall): ChatMessage[] | Fault {
    if (opening !== undefined) return messagesOf(whole.fill(variables, messages.slice(opening)));
    if (leading === null)
      return {
        reason: 'no_system_message',
        message:
          'its version is unknown or wrote other messages (spans have no variables), and the prompt has no system message at its beginning to put before the recorded ones',
      };
    const rest = messages.slice(leadOf(messages).length);
    return rest.length === 0 ? NO_INPUT : messagesOf(leading.fill(variables, rest));
  }

  return function replay(call: RecordedCall): ChatMessage[] | Fault {
    try {
      const filled = fill(call);
      if (isFault(filled)) return filled;
      for (const messages of [call.messages, filled]) {
        // Messages are JSON.
        const [fault] = sent.faults({ [CONVERSATION]: messages as JsonValue }, 1);
        if (fault !== undefined) return { reason: 'does_not_fit', message: `${fault.path}: ${fault.message}` };
      }
      return filled;
    } catch (error) {
      if (!(error instanceof TemplateVariablesError)) throw error;
      const [fault] = error.details;
      return {
        reason: 'does_not_fit',
        message: fault === undefined ? error.message : `${fault.path}: ${fault.message}`,
      };
    }
  };
}

/** Stands for what the caller of a prompt adds: some prompts are only complete with it. */
const ADDED: ChatMessage = { role: 'user', content: '…' };

/** How many messages a prompt writes with these variables; undefined if they don't fit it. */
export function openingOf(prompt: ReturnType<typeof parsePrompt>, variables: Variables): ChatMessage[] | undefined {
  try {
    return messagesOf(prompt.fill(variables, [ADDED])).slice(0, -1);
  } catch (error) {
    if (error instanceof TemplateVariablesError) return undefined;
    throw error;
  }
}
