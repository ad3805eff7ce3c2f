import { type ModelInput, messagesOf, type ToolCall } from '../../domain/prompts/messages.ts';
import type { Tool } from '../../domain/prompts/prompt-content.ts';
import type { JsonValue } from '../../domain/text/json.ts';
import type { ModelCall } from '../model.ts';

const MAX_DEPTH = 16;

type Schema = Record<string, JsonValue>;

/** The call that `sandbox/tools` makes: of the requested tool, or the first; undefined if it makes none. */
export function sandboxToolCall({ input, tools, toolChoice }: ModelCall): ToolCall | undefined {
  if (toolChoice === 'none' || resultsAtEnd(input).length > 0) return undefined;
  const name = typeof toolChoice === 'object' ? toolChoice?.name : undefined;
  const tool = tools?.find((each) => name === undefined || each.name === name);
  if (tool === undefined) return undefined;
  return { id: `call_${callsSoFar(input) + 1}`, name: tool.name, input: sampleInput(tool) };
}

/** What `sandbox/tools` responds to the latest tool results; undefined if there are none. */
export function sandboxToolAnswer(input: ModelInput): string | undefined {
  const results = resultsAtEnd(input);
  if (results.length === 0) return undefined;
  return results.map(({ name, output }) => `${name} gave ${textOf(output)}.`).join(' ');
}

function resultsAtEnd(input: ModelInput) {
  const messages = messagesOf(input);
  const start = messages.findLastIndex(({ role }) => role !== 'tool') + 1;
  return messages.slice(start).flatMap((message) => (message.role === 'tool' ? message.content : []));
}

function callsSoFar(input: ModelInput): number {
  return messagesOf(input).reduce(
    (count, { content }) =>
      typeof content === 'string' ? count : count + content.filter(({ type }) => type === 'tool_call').length,
    0,
  );
}

function textOf(output: JsonValue): string {
  return typeof output === 'string' ? output : JSON.stringify(output);
}

function sampleInput({ input_schema }: Tool): JsonValue {
  return sampleObject(input_schema, 0);
}

function sampleObject(schema: Schema, depth: number): JsonValue {
  const properties = isSchema(schema['properties']) ? schema['properties'] : {};
  const required = Array.isArray(schema['required']) ? schema['required'] : [];
  const names = required.filter((name) => typeof name === 'string');
  return Object.fromEntries(names.map((name) => [name, sample(properties[name], name, depth + 1)]));
}

/** Its default, its first example or enum value, or the simplest value of its type. A string is its property's name. */
function sample(schema: JsonValue | undefined, name: string, depth: number): JsonValue {
  if (!isSchema(schema) || depth > MAX_DEPTH) return name;
  const { default: ownDefault, const: constant, enum: values, examples, type } = schema;
  const [value] = [ownDefault, constant, firstOf(values), firstOf(examples)].filter((each) => each !== undefined);
  if (value !== undefined) return value;
  switch (Array.isArray(type) ? type[0] : type) {
    case 'number':
    case 'integer':
      return typeof schema['minimum'] === 'number' ? schema['minimum'] : 1;
    case 'boolean':
      return true;
    case 'null':
      return null;
    case 'array':
      return [sample(schema['items'], name, depth + 1)];
    case 'object':
      return sampleObject(schema, depth);
    default:
      return name;
  }
}

function firstOf(list: JsonValue | undefined): JsonValue | undefined {
  return Array.isArray(list) ? list[0] : undefined;
}

function isSchema(value: JsonValue | undefined): value is Schema {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
