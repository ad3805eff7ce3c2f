import type { Query, WorkspaceDatabase } from '../../db/database.ts';
import { ApiError } from '../../domain/errors.ts';
import { traceUuid } from '../../domain/ids.ts';
import { dataTypeOf, MAX_SCORES_AT_ONCE, storedValue } from '../../domain/scores/score.ts';
import { reportedScoreId } from '../../domain/scores/score-id.ts';
import { scoreNameProblem } from '../../domain/scores/score-name.ts';
import type { Step, StepScore } from '../../domain/traces/step.ts';
import { findScoreDefinitions } from '../scores/definitions.ts';
import { onlyType } from '../scores/evaluator-fit.ts';
import { type ScoreToStore, storeScores } from '../scores/store-scores.ts';

const MAX_COMMENT_CHARS = 4_000;

/** `Answer Relevancy` becomes `Answer-Relevancy`. */
const nameOf = (name: string) => name.trim().replaceAll(/[^A-Za-z0-9._/-]+/g, '-');

function toScore(step: Step, { name: given, value, explanation }: StepScore): ScoreToStore & { id: string } {
  const subject = { traceId: traceUuid(step.traceId), spanId: step.id };
  const name = nameOf(given);
  const comment = explanation?.slice(0, MAX_COMMENT_CHARS).toWellFormed() ?? null;
  return { id: reportedScoreId(name, subject), name, value, subject, source: 'api', author: null, comment };
}

/** Scores that can be stored under their names. @param faults receives why others cannot */
async function fitting(query: Query, scores: readonly ScoreToStore[], faults: string[]): Promise<ScoreToStore[]> {
  const known = await findScoreDefinitions(
    query,
    scores.map(({ name }) => name),
  );
  const limitsOf = new Map<string, Parameters<typeof storedValue>[0]>(known);
  return scores.flatMap((score) => {
    const { name, value: given } = score;
    const limits = limitsOf.get(name) ?? onlyType(name, dataTypeOf(given));
    const value = limits.data_type === 'boolean' && (given === 0 || given === 1) ? given === 1 : given;
    const problem = scoreNameProblem(name);
    const stored = problem === undefined ? storedValue(limits, value, undefined) : { problem };
    if ('problem' in stored) {
      faults.push(`the score "${name}" ${stored.problem}`);
      return [];
    }
    limitsOf.set(name, limits);
    return [{ ...score, value }];
  });
}

/**
 * Stores the scores that spans report (`gen_ai.evaluation.result`) for the steps that report them. A score that does not fit its name is left out, so that
 * the exporter does not lose its spans.
 * @returns why scores were left out
 */
export async function storeStepScores(db: WorkspaceDatabase, steps: readonly Step[]): Promise<string[]> {
  const reported = steps.flatMap((step) => step.scores.map((score) => toScore(step, score)));
  // The last score of a name counts.
  const scores = [...new Map(reported.map((score) => [score.id, score])).values()];
  const faults: string[] = [];
  for (let from = 0; from < scores.length; from += MAX_SCORES_AT_ONCE) {
    const part = await fitting(db.query, scores.slice(from, from + MAX_SCORES_AT_ONCE), faults);
    await db
      .transaction((query) => storeScores(query, part))
      .catch((error: unknown) => {
        if (!(error instanceof ApiError) || error.code !== 'invalid_request') throw error;
        faults.push(error.message);
      });
  }
  return faults;
}
