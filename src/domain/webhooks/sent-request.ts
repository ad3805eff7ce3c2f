/** A request to a webhook as it was sent, without its body. */
export interface SentRequest {
  url: string;
  /** Custom headers of the webhook have the value {@link HIDDEN_VALUE}. */
  headers: Record<string, string>;
}

/** Replaces a secret value. */
export const HIDDEN_VALUE = '(hidden)';
