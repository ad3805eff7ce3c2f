/**
 * What pieces of work may hold of the heap together, in one process. One workspace alone gets half of a share at most. The rest of the heap is for
 * the code, and for what has a fixed bound (docs/reliability.md lists all).
 */
export const MEMORY_SHARES = {
  /** Loaded examples of evaluations. */
  examples: 0.2,
  /** Filled prompts and the requests made from them. */
  inputs: 0.15,
  /** Files that are fetched for calls. */
  files: 0.2,
  /** Responses of models, while they are read. */
  responses: 0.1,
  /** Bodies of deliveries. */
  deliveries: 0.1,
  /** Bodies of requests to the API, and its responses: each of the two. */
  largeWork: 0.125,
};
