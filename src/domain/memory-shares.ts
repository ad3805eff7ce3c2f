/**
 * The maximum shares of the heap for kinds of work, in one process. A single workspace gets at most half of a share. The rest of
 * the heap is for code and for work with a fixed bound (docs/reliability.md lists all).
 */
export const MEMORY_SHARES = {
  /** Loaded examples of evaluations. */
  examples: 0.2,
  /** Filled prompts and the requests made from them. */
  inputs: 0.15,
  /** Files fetched for calls. */
  files: 0.2,
  /** Responses of models while they are read. */
  responses: 0.1,
  /** Bodies of deliveries. */
  deliveries: 0.1,
  /** Bodies of API requests, and responses: this share for each. */
  largeWork: 0.125,
};
