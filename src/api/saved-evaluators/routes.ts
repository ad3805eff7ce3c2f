import type { z } from 'zod';
import { EvaluatorName } from '../../evaluators/fields.ts';
import type { EvaluatorPool } from '../../evaluators/threads/evaluator-pool.ts';
import { resource } from '../../http/resource.ts';
import { defineRoute, type Route } from '../../http/route.ts';
import type { Models } from '../../models/model.ts';
import { resolveJudges } from '../../services/saved-evaluators/resolve-judges.ts';
import {
  getSavedEvaluator,
  SAVED_EVALUATORS,
  type SavedEvaluatorRow,
  setSavedEvaluator,
} from '../../services/saved-evaluators/saved-evaluators.ts';
import {
  SavedEvaluator,
  SavedEvaluatorPage,
  SavedEvaluatorParams,
  SavedEvaluatorQuery,
  SavedEvaluatorsQuery,
  SetSavedEvaluator,
  savedEvaluatorSample,
} from './schema.ts';

const tag = 'Saved evaluators';

function present({ name, description, version, count, stored, updated_at }: SavedEvaluatorRow) {
  if (stored === null) throw new Error('A saved evaluator has no version.');
  const { evaluator, created_at } = stored;
  return {
    name,
    version,
    versions: count,
    evaluator,
    description,
    created_at,
    updated_at: updated_at.toISOString(),
  } satisfies z.input<typeof SavedEvaluator>;
}

const routes = resource({
  tag,
  path: '/saved-evaluators',
  name: 'SavedEvaluator',
  params: SavedEvaluatorParams,
  cursor: EvaluatorName,
  response: SavedEvaluator,
  page: SavedEvaluatorPage,
  sample: savedEvaluatorSample,
  present,
});

/** `/saved-evaluators`: evaluators with a name and versions. */
export function savedEvaluatorRoutes(deps: { evaluatorPool: EvaluatorPool; models: Models }): Route[] {
  return [
    routes.list({
      summary: 'List saved evaluators, each with its newest version',
      query: SavedEvaluatorsQuery,
      read: ({ db, query: { limit } }, after) => SAVED_EVALUATORS.list(db.query, limit, after),
    }),
    defineRoute({
      method: 'get',
      path: '/saved-evaluators/{name}',
      operationId: 'getSavedEvaluator',
      tag,
      summary: 'Retrieve a saved evaluator, or an older version of it',
      scope: 'read',
      params: SavedEvaluatorParams,
      query: SavedEvaluatorQuery,
      response: SavedEvaluator,
      responseExample: savedEvaluatorSample,
      handler: async ({ db, params, query: { version } }) =>
        present(await getSavedEvaluator(db.query, params.name, version)),
    }),
    routes.put({
      summary: 'Save an evaluator, or a new version of it',
      description:
        'Evaluations, rules, releases, schedules and improvements take it as `{"type": "saved", "name": "tone"}`. They keep the options that it has then: ' +
        'a new version changes nothing that exists. The same options make no new version.',
      scope: 'write',
      audit: ['saved_evaluator.set'],
      shows: ['evaluator', 'description'],
      errors: ['quota_exceeded'],
      body: SetSavedEvaluator,
      bodyExamples: {
        'Words that must occur': { evaluator: { type: 'contains', values: ['please'] } },
        'A judge': {
          evaluator: {
            type: 'llm_judge',
            model: 'openai/gpt-4o-mini',
            rubric: 'Is it friendly without being familiar?',
          },
          description: 'Friendly, but not familiar.',
        },
      },
      async store({ db, params: { name }, body: { evaluator, description } }) {
        const at = () => 'evaluator';
        const [resolved = evaluator] = resolveJudges(deps.models, [evaluator], at);
        await deps.evaluatorPool.check(db.workspaceId, [resolved], at);
        return setSavedEvaluator(db, name, { evaluator: resolved, description });
      },
    }),
    routes.delete({
      summary: 'Delete a saved evaluator with all its versions',
      description: 'Runs, rules and releases that use it keep its options. Returns the newest version.',
      scope: 'write',
      audit: ['saved_evaluator.deleted'],
      remove: ({ db, params }) => db.transaction((query) => SAVED_EVALUATORS.delete(query, params)),
    }),
  ];
}
