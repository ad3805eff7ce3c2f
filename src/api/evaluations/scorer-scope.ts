import { requireAlso, type Scope } from '../../domain/scopes.ts';
import type { EvaluatorConfig } from '../../evaluators/registry.ts';

/** Whether examples are sent to a service of the caller's. */
export const hasScorer = (evaluators: readonly EvaluatorConfig[]): boolean =>
  evaluators.some(({ type }) => type === 'http');

/**
 * A scorer is sent what the examples expect: who has not given them must be allowed to read them.
 * @throws ApiError `insufficient_scope`
 */
export function requireScorerScope(
  { scopes }: { scopes: readonly Scope[] },
  { evaluators, dataset }: { evaluators: readonly EvaluatorConfig[]; dataset?: unknown },
): void {
  if (dataset !== undefined && hasScorer(evaluators))
    requireAlso(scopes, 'read', 'An "http" evaluator that receives the examples of a dataset');
}
