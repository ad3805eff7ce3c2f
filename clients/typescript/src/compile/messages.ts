import type { ChatMessage, Message, MessagePlaceholder } from '../generated/types.gen.ts';

export type { ChatMessage, Message, MessagePlaceholder } from '../generated/types.gen.ts';

/** Characters that a filled prompt may have, its files in base64 counted. */
export const MAX_RENDERED_CHARS = 4 * 1024 * 1024;
/** Messages in one list. */
export const MAX_MESSAGES = 200;
/** Parts in one message. */
export const MAX_PARTS = 100;

/** An entry of a stored prompt's `messages`. */
export type PromptMessage = Message | MessagePlaceholder;

/** A filled prompt: a template's text, which is sent as one user message, or a list of messages. */
export type ModelInput = string | ChatMessage[];

/** A file as it is given for a variable. */
export interface FileValue {
  media_type?: string;
  filename?: string;
  data?: string;
  url?: string;
}
