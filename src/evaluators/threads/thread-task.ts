/** Work for a thread. Large values are JSON: a text is copied much faster than what it says. */
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
 * What a thread tells while it is at work, so that what is done is not lost when it is ended: how long the next stage may
 * take, or the result for one evaluator, by its index.
 */
export type ThreadReport<Result> = { limitMs: number } | { index: number; result: Result };
