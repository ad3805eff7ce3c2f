// The types that the filling rules need of a prompt. The service's types (from its schemas) and the client's (from openapi.json)
// have more fields, and are assignable to these.

export type JsonValue = string | number | boolean | null | JsonValue[] | { [key: string]: JsonValue };

/** One invalid field: `path` in dot notation (`variables.name`), and what to change. */
export interface ErrorDetail {
  path: string;
  message: string;
}

/** A file passed as a variable. */
export interface FileValue {
  media_type?: string | undefined;
  filename?: string | undefined;
  data?: string | undefined;
  url?: string | undefined;
}

/** Marks where a provider's cache of the prompt ends. */
interface Cached {
  cache_control?: { type: 'ephemeral'; ttl?: '5m' | '1h' | undefined } | undefined;
}

interface TextPart extends Cached {
  type: 'text';
  text: string;
}
interface FilePart extends FileValue, Cached {
  type: 'file';
  /** The variable that contains the file. */
  variable?: string | undefined;
}
interface ToolCallPart extends Cached {
  type: 'tool_call';
  id: string;
  name: string;
}
interface ToolResultPart extends Cached {
  type: 'tool_result';
  id: string;
  name: string;
}

interface Named {
  name?: string | undefined;
}

export type Message =
  | ({ role: 'system'; content: string | readonly TextPart[] } & Named)
  | ({ role: 'user'; content: string | readonly (TextPart | FilePart)[] } & Named)
  | ({
      role: 'assistant';
      content: string | readonly (TextPart | FilePart | ToolCallPart)[];
      reasoning_content?: string | undefined;
      reasoning_details?: readonly Record<string, unknown>[] | undefined;
    } & Named)
  | { role: 'tool'; content: readonly ToolResultPart[] };

/** Replaced by the messages passed as the variable of that name. */
export interface MessagePlaceholder {
  placeholder: string;
  required?: boolean | undefined;
}

/** An entry of a stored prompt's `messages`. */
export type PromptMessage = Message | MessagePlaceholder;

/** The declaration of a variable. */
export interface Input {
  type: 'string' | 'number' | 'boolean' | 'json' | 'messages' | 'file';
  required?: boolean | undefined;
  default?: JsonValue | undefined;
  enum?: readonly (string | number | boolean)[] | undefined;
}

/** The source of a call's text: exactly one of `template` and `messages` is not null. */
export interface PromptContent {
  template: string | null;
  messages: readonly PromptMessage[] | null;
  inputs: Readonly<Record<string, Input>> | null;
}

/** An include as written in a text: `name`, `name@3` or `name@label`. */
export type IncludeRef = string;

/** Everything that a content includes, at any depth: each reference, resolved once. */
export type IncludeSet = Record<IncludeRef, { name: string; version: number; template: string }>;

/** A parsed value, or what is wrong with it. */
export interface Parsed<T> {
  data?: T;
  details?: ErrorDetail[];
}

/** How values are checked: by schemas in the service, without schemas in the client. Each check names at most `limit` errors. */
export interface ValueChecks<Chat extends Message> {
  /** What is wrong with a value of a type. */
  typeFaults(type: Input['type'], value: JsonValue, at: string, limit: number): ErrorDetail[];
  parseMessages(value: JsonValue, at: string, limit: number): Parsed<Chat[]>;
  parseFile(value: JsonValue, at: string, limit: number): Parsed<FileValue>;
}
