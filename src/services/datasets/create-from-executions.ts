import type { Query } from '../../db/database.ts';
import { ApiError, invalidField } from '../../domain/errors.ts';
import { contentOf, createExamplesHash } from '../../domain/example.ts';
import type { ExecutionStatus } from '../../domain/execution-states.ts';
import { ID_PREFIXES, parsePublicId, publicId } from '../../domain/ids.ts';
import type { Quotas } from '../workspaces/quotas.ts';
import { attachVersion } from './attach-version.ts';
import type { DatasetRow } from './datasets.ts';
import { insertVersion } from './insert-examples.ts';
import { readAllExamples } from './read-examples.ts';

const MAX_MISSING_SHOWN = 5;

/** Which executions become examples, and how. */
export interface ExecutionSelection {
  promptName?: string | undefined;
  status: ExecutionStatus;
  model?: string | undefined;
  since?: Date | undefined;
  until?: Date | undefined;
  /** Public ids; all of them must match. */
  executionIds?: string[] | undefined;
  /** The newest ones, where more match. */
  limit: number;
  /** What an example expects: what the execution gave, or nothing. */
  expected: 'output' | 'none';
}

const INSERT = {
  text: `with picked as (
           select id, prompt_name, prompt_version, model, variables, output, created_at from executions
           where workspace_id = $1 and status = $3 and ($4::text is null or prompt_name = $4)
             and ($5::text is null or model = $5) and ($6::timestamptz is null or created_at >= $6)
             and ($7::timestamptz is null or created_at < $7) and ($8::uuid[] is null or id = any($8))
           order by id desc limit $9
         ), inserted as (
           insert into dataset_examples
             (workspace_id, dataset_version_id, seq, example_key, variables, expected, metadata)
           select $1, $2, row_number() over (order by id) - 1, '${ID_PREFIXES.execution}_' || id, variables,
             case when $10 then to_jsonb(output) end,
             jsonb_build_object('execution_id', '${ID_PREFIXES.execution}_' || id, 'prompt_name', prompt_name,
               'prompt_version', prompt_version, 'model', model,
               'created_at', to_char(created_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'))
           from picked returning 1
         )
         select count(*)::int as total from inserted`,
};
const FIND_MISSING = {
  text: `select wanted.id from unnest($2::uuid[]) with ordinality as wanted (id, place)
         where not exists (select from dataset_examples e where e.workspace_id = $1 and e.dataset_version_id = $3
           and e.example_key = '${ID_PREFIXES.execution}_' || wanted.id)
         order by place limit ${MAX_MISSING_SHOWN}`,
};

function parseIds(ids: string[]): string[] {
  const parsed = ids.map((id, index) => {
    const uuid = parsePublicId('execution', id);
    if (uuid === undefined) throw invalidField(`execution_ids.${index}`, 'is not the id of an execution');
    return uuid;
  });
  return [...new Set(parsed)];
}

/**
 * Makes the next version of a dataset of executions that were recorded, oldest first. Runs in the caller's transaction.
 * @throws ApiError `invalid_request` where no execution matches, or not all that were named
 */
export async function createFromExecutions(
  query: Query,
  quotas: Quotas,
  name: string,
  selection: ExecutionSelection,
): Promise<DatasetRow> {
  const ids = selection.executionIds === undefined ? null : parseIds(selection.executionIds);
  const examplesId = await insertVersion(query, 0, Buffer.alloc(0));
  const [inserted] = await query<{ total: number }>(INSERT, [
    examplesId,
    selection.status,
    selection.promptName ?? null,
    selection.model ?? null,
    selection.since ?? null,
    selection.until ?? null,
    ids,
    selection.limit,
    selection.expected === 'output',
  ]);
  const total = inserted?.total ?? 0;
  if (ids !== null && total < Math.min(ids.length, selection.limit)) {
    const missing = await query<{ id: string }>(FIND_MISSING, [ids, examplesId]);
    const shown = missing.map(({ id }) => publicId('execution', id)).join(', ');
    throw invalidField('execution_ids', `some do not exist or do not match the other fields, among them ${shown}`);
  }
  if (total === 0)
    throw new ApiError(
      'invalid_request',
      `No execution with the status "${selection.status}" matches: widen the selection.`,
    );
  const hash = createExamplesHash();
  for await (const examples of readAllExamples(query, examplesId, total))
    for (const example of examples) hash.add(example.key, contentOf(example));
  return attachVersion(query, quotas, name, { examplesId, total, hash: hash.digest() });
}
