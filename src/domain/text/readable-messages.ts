import type { ChatMessage, ModelInput, ToolCall } from '../prompts/messages.ts';

type Part = Exclude<ChatMessage['content'], string>[number];

/**
 * A filled prompt for a person or a judge to read: the text of a template, or messages with their roles, tool calls and results
 * as JSON, and files named instead of shown.
 */
export function readableInput(input: ModelInput): string {
  return typeof input === 'string' ? input : input.map(readableMessage).join('\n\n');
}

/** A model's response: its text, then its tool calls. */
export function readableOutput(output: string, toolCalls: readonly ToolCall[]): string {
  if (toolCalls.length === 0) return output;
  const calls = toolCalls.map(({ name, input }) => `[tool call ${name}: ${JSON.stringify(input)}]`);
  return [...(output === '' ? [] : [output]), ...calls].join('\n');
}

function readableMessage({ role, content }: ChatMessage): string {
  return `${role}:\n${typeof content === 'string' ? content : content.map(readablePart).join('\n')}`;
}

function readablePart(part: Part): string {
  switch (part.type) {
    case 'text':
      return part.text;
    case 'file':
      return `[file ${[part.filename, part.media_type, part.url].filter((fact) => fact !== undefined).join(', ')}]`;
    case 'tool_call':
      return `[tool call ${part.id} ${part.name}: ${JSON.stringify(part.input)}]`;
    case 'tool_result':
      return `[result of ${part.id} ${part.name}: ${JSON.stringify(part.output)}]`;
  }
}
