import { ScoreName } from '../../domain/scores/score-name.ts';
import { resource } from '../../http/resource.ts';
import type { Route } from '../../http/route.ts';
import { DEFINITIONS, deleteScoreDefinition, setScoreDefinition } from '../../services/scores/definitions.ts';
import { presentDefinition } from './presenter.ts';
import { definitionSample } from './samples.ts';
import {
  DefinitionParams,
  DefinitionsQuery,
  ScoreDefinition,
  ScoreDefinitionPage,
  SetScoreDefinition,
} from './schema.ts';

const _tag = 'Scores';

const routes = resource({
  tag: 'Scores',
  path: '/score-definitions',
  name: 'ScoreDefinition',
  params: DefinitionParams,
  cursor: ScoreName,
  response: ScoreDefinition,
  page: ScoreDefinitionPage,
  sample: definitionSample,
  present: presentDefinition,
});

/** `/score-definitions`: the values allowed for a score name. */
export function scoreDefinitionRoutes(): Route[] {
  return [
    routes.list({
      summary: 'List score names and their definitions',
      query: DefinitionsQuery,
      read: ({ db, query: { limit } }, after) => DEFINITIONS.list(db.query, limit, after),
    }),
    routes.get({
      summary: 'Retrieve a score definition',
      read: ({ db, params }) => DEFINITIONS.get(db.query, params),
    }),
    routes.put({
      summary: 'Create or replace a score definition',
      description:
        'Stored scores stay unchanged; while there are any, `data_type` must match theirs. Omitted limits do not apply.',
      scope: 'write',
      audit: ['score_definition.set'],
      shows: ['min', 'max', 'categories', 'description'],
      body: SetScoreDefinition,
      bodyExamples: {
        'A number': { data_type: 'numeric', min: 0, max: 1 },
        Categories: { data_type: 'categorical', categories: [{ value: 'billing', label: 'Billing' }] },
      },
      store: ({ db, params: { name }, body }) => {
        const { data_type, min = null, max = null, categories = null, description = null } = body;
        const labelled = categories?.map(({ value, label = value }) => ({ value, label })) ?? null;
        const definition = { data_type, min, max, categories: labelled, description };
        return db.transaction((query) => setScoreDefinition(query, name, definition));
      },
    }),
    routes.delete({
      summary: 'Delete a score definition',
      description: 'Scores with this name are kept, and so is its type. Returns the deleted definition.',
      scope: 'write',
      audit: ['score_definition.deleted'],
      remove: ({ db, params: { name } }) => db.transaction((query) => deleteScoreDefinition(query, name)),
    }),
  ];
}
