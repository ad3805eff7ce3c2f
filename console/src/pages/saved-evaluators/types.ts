import type { Evaluator } from '../evaluations/evaluator.ts';

/** A version of a saved evaluator, as `GET /saved-evaluators/{name}` returns it. */
export interface SavedEvaluator {
  name: string;
  version: number;
  /** The newest version. */
  versions: number;
  evaluator: Evaluator;
  description: string | null;
  created_at: string;
  updated_at: string;
}
