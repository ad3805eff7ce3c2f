import type { Query } from '../../../db/database.ts';
import { notFound } from '../../../domain/errors.ts';
import type { ModelInput } from '../../../domain/prompts/messages.ts';
import { parsePrompt, TemplateVariablesError } from '../../../domain/prompts/prompt.ts';

/**
 * What the model was sent for an example that has a result: the run's own content with its pinned includes, filled with the
 * example's variables.
 * @param seq the position of the example in the run, from 0
 * @returns null if nothing was sent: the variables don't fill the prompt, or a program of the caller ran the example
 * @throws ApiError `not_found` if the run has no such result
 */
export async function readExampleInput(query: Query, evaluationId: string, seq: number): Promise<ModelInput | null> {
  const [row] = await query((db) =>
    db
      .selectFrom('evaluations as e')
      .innerJoin('evaluation_results as r', 'r.evaluation_id', 'e.id')
      .select(['e.target', 'e.content', 'e.includes', 'r.variables'])
      .where('e.id', '=', evaluationId)
      .where('r.seq', '=', seq),
  );
  if (row === undefined) throw notFound(`The result ${seq} of this evaluation`);
  if (row.target === 'code') return null;
  try {
    return parsePrompt(row.content, row.includes).fill(row.variables);
  } catch (error) {
    if (error instanceof TemplateVariablesError) return null;
    throw error;
  }
}
