import type { JsonValue } from '../../domain/text/json.ts';

export type JsonObject = { [key: string]: JsonValue };

/** A value as text for a path, a query or a header. */
export const asText = (value: JsonValue): string => (typeof value === 'string' ? value : JSON.stringify(value));

/** Hints about a tool for clients (`ToolAnnotations` of the protocol). */
export interface Hints {
  /** Whether it changes nothing. */
  readOnly: boolean;
  /** Whether its changes remove or replace something: what runs, or what others see. */
  destructive: boolean;
  /** Whether repeating it with the same arguments changes nothing more. */
  idempotent: boolean;
  /** Whether it calls something outside the service: models. */
  openWorld: boolean;
}

/** An operation of the API as a tool. Its arguments are those of the operation, from any part of the request. */
export interface ToolSpec {
  name: string;
  /** The operation's `operationId`. */
  operation: string;
  title: string;
  /** When a model should use it. */
  description: string;
  hints: Hints;
  /** Arguments to leave out. */
  omit?: readonly string[];
  /** Shorter JSON Schemas than the operation's own, which still validate the arguments. */
  brief?: Record<string, JsonObject>;
  /** For a body with several forms: the index of the one to use. */
  form?: number;
  /** Additional arguments of the tool. */
  own?: Record<string, JsonObject>;
  /** Converts its own arguments to those of the operation. */
  translate?: (given: JsonObject) => JsonObject;
  /** Headers of the operation, from the tool's own arguments. */
  headers?: (given: JsonObject) => Record<string, string>;
  /** A hint on what to do next. */
  next?: (result: JsonObject) => string | undefined;
}

export const READS: Hints = { readOnly: true, destructive: false, idempotent: true, openWorld: false };
/** Creates something new. */
export const ADDS: Hints = { readOnly: false, destructive: false, idempotent: false, openWorld: false };
/** Puts something into a lasting state. */
export const SETS: Hints = { readOnly: false, destructive: true, idempotent: true, openWorld: false };
/** Creates something new by calling models. */
export const CALLS_MODELS: Hints = { readOnly: false, destructive: false, idempotent: false, openWorld: true };
