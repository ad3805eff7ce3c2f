import { requireAlso } from '../../domain/scopes.ts';
import type { EvaluatorConfig, GivenEvaluator } from '../../evaluators/registry.ts';
import type { EvaluatorPool } from '../../evaluators/threads/evaluator-pool.ts';
import type { RouteRequest } from '../../http/route.ts';
import { withSavedOptions } from '../../services/saved-evaluators/saved-evaluators.ts';

type Caller = Pick<RouteRequest<unknown, unknown, unknown>, 'db' | 'key'>;

/**
 * A response shows the options of saved evaluators, also when a request is repeated.
 * @throws ApiError `insufficient_scope`
 */
export function requireSavedScope({ scopes }: Caller['key'], given: readonly Pick<GivenEvaluator, 'type'>[]): void {
  if (given.some(({ type }) => type === 'saved')) requireAlso(scopes, 'read', 'A saved evaluator');
}

/**
 * The evaluators of a request with the options of the saved ones, compiled. This can take seconds, so it runs before a transaction.
 * @param at path of the evaluators in the request
 * @throws ApiError `invalid_request`, `insufficient_scope` if a key cannot read what is saved
 */
export async function toEvaluators(
  { db, key }: Caller,
  pool: Pick<EvaluatorPool, 'check'>,
  given: readonly GivenEvaluator[],
  at: string,
): Promise<EvaluatorConfig[]> {
  requireSavedScope(key, given);
  const evaluators = await withSavedOptions(db.query, given, at);
  await pool.check(db.workspaceId, evaluators, (index) => `${at}.${index}`);
  return evaluators;
}

/** The same for the steps of a release. @param at path of the steps in the request */
export async function toReleaseSteps<Step extends { type: string; evaluators?: readonly GivenEvaluator[] }>(
  caller: Caller,
  pool: Pick<EvaluatorPool, 'check'>,
  steps: readonly Step[],
  at: string,
): Promise<Step[]> {
  const ready: Step[] = [];
  for (const [index, step] of steps.entries())
    ready.push(
      step.evaluators === undefined
        ? step
        : { ...step, evaluators: await toEvaluators(caller, pool, step.evaluators, `${at}.${index}.evaluators`) },
    );
  return ready;
}
