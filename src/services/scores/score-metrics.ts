import type { Query } from '../../db/database.ts';
import { invalidField } from '../../domain/errors.ts';
import { findScoreDefinitions } from './definitions.ts';

const SCORE = 'score:';

/**
 * Makes sure that the scores that checks are about have a mean: categories and texts have none, so the check would never be decided.
 * @param checks by the path of each in the request
 * @throws ApiError `invalid_request`
 */
export async function requireMeans(query: Query, checks: readonly { at: string; metric: string }[]): Promise<void> {
  const ofScores = checks.filter(({ metric }) => metric.startsWith(SCORE));
  if (ofScores.length === 0) return;
  const nameOf = (metric: string) => metric.slice(SCORE.length);
  const definitions = await findScoreDefinitions(
    query,
    ofScores.map(({ metric }) => nameOf(metric)),
  );
  for (const { at, metric } of ofScores) {
    const type = definitions.get(nameOf(metric))?.data_type;
    if (type === 'categorical' || type === 'text')
      throw invalidField(
        `${at}.metric`,
        `scores named "${nameOf(metric)}" are ${type === 'text' ? 'texts' : 'categories'}, which have no mean: name a score that is a number or a boolean`,
      );
  }
}
