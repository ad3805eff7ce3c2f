import { ScoreName } from '../../domain/scores/score-name.ts';
import { decodeCursor, toPage } from '../../http/pagination.ts';
import { defineRoute, type Route } from '../../http/route.ts';
import {
  deleteScoreDefinition,
  getScoreDefinition,
  listScoreDefinitions,
  setScoreDefinition,
} from '../../services/scores/definitions.ts';
import { presentDefinition } from './presenter.ts';
import { definitionSample } from './samples.ts';
import {
  DefinitionParams,
  DefinitionsQuery,
  ScoreDefinition,
  ScoreDefinitionPage,
  SetScoreDefinition,
} from './schema.ts';

const tag = 'Scores';

/** `/score-definitions`: what scores of a name may be. */
export function scoreDefinitionRoutes(): Route[] {
  return [
    defineRoute({
      method: 'get',
      path: '/score-definitions',
      operationId: 'listScoreDefinitions',
      tag,
      summary: 'List score names and their definitions',
      scope: 'read',
      query: DefinitionsQuery,
      response: ScoreDefinitionPage,
      responseExample: { data: [definitionSample], next_cursor: null },
      async handler({ db, query: { limit, cursor } }) {
        const page = await listScoreDefinitions(db.query, limit, decodeCursor(cursor, ScoreName));
        return toPage(page, presentDefinition, ({ name }) => name);
      },
    }),
    defineRoute({
      method: 'get',
      path: '/score-definitions/{name}',
      operationId: 'getScoreDefinition',
      tag,
      summary: 'Retrieve a score definition',
      scope: 'read',
      params: DefinitionParams,
      response: ScoreDefinition,
      responseExample: definitionSample,
      handler: async ({ db, params }) => presentDefinition(await getScoreDefinition(db.query, params.name)),
    }),
    defineRoute({
      method: 'put',
      path: '/score-definitions/{name}',
      operationId: 'setScoreDefinition',
      audit: ['score_definition.set'],
      tag,
      summary: 'Create or replace a score definition',
      description:
        'Stored scores stay unchanged; while there are any, `data_type` must match theirs. Omitted limits do not apply.',
      scope: 'write',
      shows: ['min', 'max', 'categories', 'description'],
      params: DefinitionParams,
      body: SetScoreDefinition,
      bodyExamples: {
        'A number': { data_type: 'numeric', min: 0, max: 1 },
        Categories: { data_type: 'categorical', categories: [{ value: 'billing', label: 'Billing' }] },
      },
      response: ScoreDefinition,
      responseExample: definitionSample,
      async handler({ db, params: { name }, body }) {
        const { data_type, min = null, max = null, categories = null, description = null } = body;
        const labelled = categories?.map(({ value, label = value }) => ({ value, label })) ?? null;
        const definition = { data_type, min, max, categories: labelled, description };
        return presentDefinition(await db.transaction((query) => setScoreDefinition(query, name, definition)));
      },
    }),
    defineRoute({
      method: 'delete',
      path: '/score-definitions/{name}',
      operationId: 'deleteScoreDefinition',
      audit: ['score_definition.deleted'],
      tag,
      summary: 'Delete a score definition',
      description: 'Scores with this name are kept, and so is its type. Returns the deleted definition.',
      scope: 'write',
      params: DefinitionParams,
      response: ScoreDefinition,
      responseExample: definitionSample,
      handler: async ({ db, params: { name } }) =>
        presentDefinition(await db.transaction((query) => deleteScoreDefinition(query, name))),
    }),
  ];
}
