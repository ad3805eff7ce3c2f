import { ScoreName } from '../../domain/scores/score-name.ts';
import { decodeCursor, toPage } from '../../http/pagination.ts';
import { defineRoute, type Route } from '../../http/route.ts';
import {
  deleteScoreDefinition,
  getScoreDefinition,
  listScoreDefinitions,
  setScoreDefinition,
} from '../../services/scores/definitions.ts';
import { presentDefinition, UNREAD_DEFINITION } from './presenter.ts';
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
      summary: 'List the names of scores, and what they may be',
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
      summary: 'Retrieve what scores of a name may be',
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
      summary: 'Define what scores of a name may be',
      description:
        'Scores that are stored stay as they are; while there are any, the `data_type` is theirs. What is left out is not limited.',
      scope: 'write',
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
      summary: 'Delete the definition of a score',
      description: 'Scores of the name stay, and with them its type. Returns the definition as it was.',
      scope: 'write',
      withoutRead: UNREAD_DEFINITION,
      params: DefinitionParams,
      response: ScoreDefinition,
      responseExample: definitionSample,
      handler: async ({ db, params: { name } }) =>
        presentDefinition(await db.transaction((query) => deleteScoreDefinition(query, name))),
    }),
  ];
}
