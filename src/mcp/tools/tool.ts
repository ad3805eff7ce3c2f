import type { JsonValue } from '../../domain/text/json.ts';

export type JsonObject = { [key: string]: JsonValue };

/** A value as a path, a query or a header holds it. */
export const asText = (value: JsonValue): string => (typeof value === 'string' ? value : JSON.stringify(value));

/** What a client may take for granted of a tool (`ToolAnnotations` of the protocol). */
export interface Hints {
  /** It changes nothing. */
  readOnly: boolean;
  /** What it changes, it takes away or replaces: what runs, or what others see. */
  destructive: boolean;
  /** Once more with the same arguments changes nothing more. */
  idempotent: boolean;
  /** It calls something outside of the service: models. */
  openWorld: boolean;
}

/** An operation of the API as a tool. Its arguments are those of the operation, whatever part of the request they are in. */
export interface ToolSpec {
  name: string;
  /** The operation's `operationId`. */
  operation: string;
  title: string;
  /** When a model is to use it. */
  description: string;
  hints: Hints;
  /** Arguments that make no sense here. */
  omit?: readonly string[];
  /** JSON Schemas that say less than the operation's own, which are still what arguments are checked by. */
  brief?: Record<string, JsonObject>;
  /** Of a body that may have several forms: the index of the one that is meant. */
  form?: number;
  /** Arguments of the tool alone. */
  own?: Record<string, JsonObject>;
  /** Turns its own arguments into those of the operation. */
  translate?: (given: JsonObject) => JsonObject;
  /** Headers of the operation, from its own arguments. */
  headers?: (given: JsonObject) => Record<string, string>;
  /** What to do next, in words. */
  next?: (result: JsonObject) => string | undefined;
}

export const READS: Hints = { readOnly: true, destructive: false, idempotent: true, openWorld: false };
/** Makes something new. */
export const ADDS: Hints = { readOnly: false, destructive: false, idempotent: false, openWorld: false };
/** Puts something into a state, in which it stays. */
export const SETS: Hints = { readOnly: false, destructive: true, idempotent: true, openWorld: false };
/** Makes something new by calling models. */
export const CALLS_MODELS: Hints = { readOnly: false, destructive: false, idempotent: false, openWorld: true };
