import { hash } from 'node:crypto';
import { canonicalJson } from '../../domain/canonical-json.ts';
import type { JsonValue } from '../../domain/json.ts';
import type { ModelInput } from '../../domain/messages.ts';
import type { ModelParameters } from '../../domain/parameters.ts';
import type { Tool, ToolChoice } from '../../domain/prompt-content.ts';

/** What a model is sent. */
export interface CallContent {
  input: ModelInput;
  parameters: ModelParameters;
  tools: Tool[] | null;
  toolChoice: ToolChoice | null;
}

/** SHA-256 of what a model is sent, the same for equal calls, the order of an object's names aside. */
export function callHashOf({ input, parameters, tools, toolChoice }: CallContent): Buffer {
  return hash('sha256', canonicalJson(toJson([input, parameters, tools, toolChoice])), 'buffer');
}

/** All of it was parsed from JSON; names without a value are left out. */
function toJson(value: unknown): JsonValue {
  return value as JsonValue;
}
