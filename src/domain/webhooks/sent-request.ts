/** A request to a webhook as it was sent, without its body. */
export interface SentRequest {
  url: string;
  /** Those that the webhook has of its own with {@link HIDDEN_VALUE}. */
  headers: Record<string, string>;
}

/** In place of a value that is secret. */
export const HIDDEN_VALUE = '(hidden)';
