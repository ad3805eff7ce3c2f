import type { Query } from '../../db/database.ts';
import { scoreOf } from '../../domain/analysis/check.ts';
import { invalidField } from '../../domain/errors.ts';
import { findScoreDefinitions, lockRulesAndDefinitions } from './definitions.ts';
import { noMeanOf } from './mean-fit.ts';

/**
 * Makes sure that the scores used by checks have a mean: categories and texts have none, so the check could never be decided.
 * Holds until the caller's transaction ends; later changes of definitions are checked against what is stored.
 * @param checks by the path of each in the request
 * @throws ApiError `invalid_request`
 */
export async function requireMeans(query: Query, checks: readonly { at: string; metric: string }[]): Promise<void> {
  const names = checks.flatMap(({ metric }) => scoreOf(metric) ?? []);
  if (names.length === 0) return;
  await lockRulesAndDefinitions(query);
  const definitions = await findScoreDefinitions(query, names);
  for (const { at, metric } of checks) {
    const definition = definitions.get(scoreOf(metric) ?? '');
    const problem = definition && noMeanOf(definition);
    if (problem !== undefined) throw invalidField(`${at}.metric`, problem);
  }
}
