import type { OptionSchema } from './option-field.tsx';

/** An evaluator in API format, with the options of its type. */
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
  /** What earns a score of 100 %. */
  description: string;
  options: { properties: Record<string, OptionSchema>; required: string[] };
}

/** A new evaluator of a type, with its required JSON. */
export function startOf({ type, options }: EvaluatorType): Evaluator {
  const evaluator: Evaluator = { type };
  for (const name of options.required) {
    const example = options.properties[name]?.example;
    if (typeof example === 'object') evaluator[name] = example;
  }
  return evaluator;
}

/** The secrets of scorers that a response shows once because the request did not set them. */
export function newSecrets(
  sent: readonly Evaluator[],
  created: readonly Evaluator[],
): { name: string; secret: string }[] {
  return created.flatMap(({ type, name = type, secret }, index) =>
    typeof secret === 'string' && sent[index]?.['secret'] === undefined ? [{ name, secret }] : [],
  );
}
