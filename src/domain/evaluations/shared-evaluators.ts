import { isDeepStrictEqual } from 'node:util';

/** An evaluator of an evaluation. `name` is unique within the evaluation; the rest is its configuration. */
export interface NamedEvaluator {
  name: string;
  weight: number;
}

/** An evaluator that a comparison excludes: only one run has it, or its configuration differs between the runs. */
export interface LeftOutEvaluator {
  name: string;
  reason: 'only_in_a' | 'only_in_b' | 'changed';
}

/** How the evaluators of two runs relate. */
export interface EvaluatorOverlap<Evaluator extends NamedEvaluator> {
  /** Evaluators that both runs have with the same configuration. Only their weight can differ; it is that of run `b`. */
  shared: Evaluator[];
  leftOut: LeftOutEvaluator[];
  /** Whether both runs have the same evaluators with the same weights: the scores of examples are then comparable as stored. */
  isSame: boolean;
}

/** As JSON, without omitted options, whether an evaluator was stored or has just been parsed. */
const optionsOf = (evaluator: NamedEvaluator): unknown =>
  JSON.parse(JSON.stringify({ ...evaluator, weight: undefined, saved_version: undefined }));

/** Finds the evaluators that two runs have in common by content. @param a those of the earlier run @param b those of the later run */
export function overlapOf<Evaluator extends NamedEvaluator>(
  a: readonly Evaluator[],
  b: readonly Evaluator[],
): EvaluatorOverlap<Evaluator> {
  const before = new Map(a.map((evaluator) => [evaluator.name, evaluator]));
  const after = new Set(b.map(({ name }) => name));
  const leftOut: LeftOutEvaluator[] = a
    .filter(({ name }) => !after.has(name))
    .map(({ name }) => ({ name, reason: 'only_in_a' }));
  const shared: Evaluator[] = [];
  let hasSameWeights = true;
  for (const evaluator of b) {
    const other = before.get(evaluator.name);
    if (other === undefined) leftOut.push({ name: evaluator.name, reason: 'only_in_b' });
    else if (!isDeepStrictEqual(optionsOf(other), optionsOf(evaluator)))
      leftOut.push({ name: evaluator.name, reason: 'changed' });
    else {
      shared.push(evaluator);
      if (other.weight !== evaluator.weight) hasSameWeights = false;
    }
  }
  return { shared, leftOut, isSame: leftOut.length === 0 && hasSameWeights };
}
