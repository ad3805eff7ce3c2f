/** Work for a thread. Large values are JSON because copying a string is much faster than copying an object. */
export type ThreadTask =
  | { kind: 'check' /** The evaluators' options. */; evaluators: string }
  | { kind: 'schemas' /** A list of JSON schemas. */; schemas: string }
  | {
      kind: 'score';
      evaluators: string;
      output: string;
      /** JSON of the rest of a `ScoredExample`. */
      rest: string;
    };

/**
 * A thread's report while it works, so that results survive its termination: the time limit of the next stage, or the result of
 * one evaluator, by its index.
 */
export type ThreadReport<Result> = { limitMs: number } | { index: number; result: Result };
