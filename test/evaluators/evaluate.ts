import type { Example, Score } from '../../src/evaluators/evaluator.ts';
import {
  EvaluatorList,
  evaluatorFault,
  type PreparedEndpoint,
  type PreparedJudging,
  type PreparedPair,
  prepareEvaluator,
} from '../../src/evaluators/registry.ts';

/** An example with this output; the rest is optional. */
export function exampleOf(output: string, rest: Partial<Example> = {}): Example {
  return {
    output,
    toolCalls: [],
    modelMs: null,
    costUsd: null,
    expected: undefined,
    variables: {},
    input: 'the prompt',
    ...rest,
  };
}

/** Scores by an evaluator with these options, through the schema that requests go through. */
export function scorerOf(options: unknown): (output: string, expected?: Example['expected']) => Score {
  const evaluator = prepared(options);
  if (evaluator.kind !== 'scoring') throw new Error('not a scoring evaluator');
  return (output, expected) => evaluator.score(exampleOf(output, { expected }));
}

/** The same, of a whole example. */
export function measuredBy(options: unknown): (example: Example) => Score {
  const evaluator = prepared(options);
  if (evaluator.kind !== 'scoring') throw new Error('not a scoring evaluator');
  return (example) => evaluator.score(example);
}

export function judgeOf(options: unknown): PreparedJudging {
  const evaluator = prepared(options);
  if (evaluator.kind !== 'judging') throw new Error('not a judging evaluator');
  return evaluator;
}

export function pairOf(options: unknown): PreparedPair {
  const evaluator = prepared(options);
  if (evaluator.kind !== 'pair') throw new Error('not an evaluator that compares');
  return evaluator;
}

export function endpointOf(options: unknown): PreparedEndpoint {
  const evaluator = prepared(options);
  if (evaluator.kind !== 'endpoint') throw new Error('not an evaluator with an endpoint');
  return evaluator;
}

/** The errors of a request with these options, as `path: message`. */
export function faultsOf(evaluators: unknown): string[] {
  const result = EvaluatorList.safeParse(evaluators);
  if (!result.success) return result.error.issues.map((issue) => `${issue.path.join('.')}: ${issue.message}`);
  return result.data.flatMap((config, index) => {
    const fault = evaluatorFault(config);
    return fault === null ? [] : [`${index}.${fault.option}: ${fault.message}`];
  });
}

function prepared(options: unknown) {
  const [config] = EvaluatorList.parse([options]);
  if (config === undefined) throw new Error('no evaluator');
  return prepareEvaluator(config);
}
