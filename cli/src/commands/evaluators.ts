import type { Command } from 'commander';
import type { Api } from 'pms-client';
import type { Context } from '../context.ts';
import { definitionText } from '../definition-file.ts';
import type { Columns } from '../lists.ts';
import { recordCommands } from '../record-commands.ts';

const COLUMNS: Columns<Api.SavedEvaluator> = {
  evaluator: ({ name }) => name,
  version: ({ version }) => version,
  type: ({ evaluator }) => evaluator.type,
  description: ({ description }) => description,
};

const textOf = ({ name, evaluator, description, version, created_at: at }: Api.SavedEvaluator): Promise<string> =>
  definitionText({ name, description, evaluator }, [`version ${version}, stored ${at}`]);

/** `pms evaluators list|get|set|delete`. */
export function addEvaluatorCommands(evaluators: Command, context: Context): void {
  const records = recordCommands<Api.SavedEvaluator>(evaluators, context, ['<name>']);
  records.list('list saved evaluators by name', (pms) => pms.list('listSavedEvaluators'), COLUMNS);
  records.get(
    'show the newest version of a saved evaluator, as the YAML that pms evaluators set takes',
    (pms, name) => pms.call('getSavedEvaluator', { path: { name } }),
    { json: 'print the full record as JSON', text: textOf },
  );
  records.set<Api.SetSavedEvaluator>(
    'save an evaluator, or a new version of it',
    'YAML or JSON: name, and the body of PUT /v1/saved-evaluators/{name}',
    (pms, name, body) => pms.call('setSavedEvaluator', { path: { name }, body }),
    ({ name, version }) => `${name} is saved: version ${version}`,
  );
  records.delete(
    'delete a saved evaluator with all its versions',
    (pms, name) => pms.call('deleteSavedEvaluator', { path: { name } }),
    (name) => `Delete the saved evaluator ${name}?`,
  );
}
