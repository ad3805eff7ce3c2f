import { requireAlso, type Scope } from '../../domain/scopes.ts';

/** Whether examples are sent to one of the caller's own services. */
export const hasScorer = (evaluators: readonly { type: string }[]): boolean =>
  evaluators.some(({ type }) => type === 'http');

/**
 * A scorer receives the expected outputs of examples: a caller who did not send them needs permission to read them.
 * @throws ApiError `insufficient_scope`
 */
export function requireScorerScope(
  { scopes }: { scopes: readonly Scope[] },
  { evaluators, dataset }: { evaluators: readonly { type: string }[]; dataset?: unknown },
): void {
  if (dataset !== undefined && hasScorer(evaluators))
    requireAlso(scopes, 'read', 'An "http" evaluator that receives the examples of a dataset');
}
