import { hash } from 'node:crypto';
import type { ModelInput } from '../../../domain/prompts/messages.ts';
import type { ModelParameters } from '../../../domain/prompts/parameters.ts';
import type { Tool, ToolChoice } from '../../../domain/prompts/prompt-content.ts';
import { canonicalJson } from '../../../domain/text/canonical-json.ts';
import type { JsonValue } from '../../../domain/text/json.ts';

/** What a model is sent. */
export interface CallContent {
  input: ModelInput;
  parameters: ModelParameters;
  tools: Tool[] | null;
  toolChoice: ToolChoice | null;
}

/** SHA-256 of what a model is sent. Equal calls have the same hash, whatever the order of object properties. */
export function callHashOf({ input, parameters, tools, toolChoice }: CallContent): Buffer {
  return hash('sha256', canonicalJson(toJson([input, parameters, tools, toolChoice])), 'buffer');
}

/** Everything was parsed from JSON; undefined properties are omitted. */
function toJson(value: unknown): JsonValue {
  return value as JsonValue;
}
