import type { OptionSchema } from './option-field.tsx';

/** An evaluator as the API takes it, with the options of its type. */
export interface Evaluator {
  type: string;
  name?: string;
  weight?: number;
  [option: string]: unknown;
}

/** A type of evaluator, as `GET /evaluators` describes it. */
export interface EvaluatorType {
  type: string;
  title: string;
  /** What gives a score of 100 %. */
  description: string;
  options: { properties: Record<string, OptionSchema>; required: string[] };
}

/** An evaluator of a type, with the JSON that must be there to begin with. */
export function startOf({ type, options }: EvaluatorType): Evaluator {
  const evaluator: Evaluator = { type };
  for (const name of options.required) {
    const example = options.properties[name]?.example;
    if (typeof example === 'object') evaluator[name] = example;
  }
  return evaluator;
}

/** The secrets of scorers that a response shows, this one time, and the request had not given. */
export function newSecrets(
  sent: readonly Evaluator[],
  created: readonly Evaluator[],
): { name: string; secret: string }[] {
  return created.flatMap(({ type, name = type, secret }, index) =>
    typeof secret === 'string' && sent[index]?.['secret'] === undefined ? [{ name, secret }] : [],
  );
}
