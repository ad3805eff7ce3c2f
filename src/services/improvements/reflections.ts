import { sql } from 'kysely';
import type { Query } from '../../db/database.ts';
import { now } from '../../db/sql.ts';
import { executionStates } from '../../domain/execution-states.ts';
import { newId, publicId } from '../../domain/ids.ts';
import { reflectionReserve } from '../../domain/improvements/budget.ts';
import type { Failure, ImprovementRequest } from '../../domain/improvements/improvement.ts';
import { REFLECTION_MESSAGES, reflectionFormat } from '../../domain/improvements/reflection.ts';
import type { ChatMessage } from '../../domain/prompts/messages.ts';
import type { ModelParameters } from '../../domain/prompts/parameters.ts';
import type { Models } from '../../models/model.ts';
import { CHARACTERS_PER_TOKEN } from '../evaluations/creation/expected-tokens.ts';
import { insertExecution, prepareExecution } from '../executions/creation/create-execution.ts';
import { reuseResponse } from '../executions/creation/reuse-response.ts';
import type { StoredExecution } from '../executions/execution-workflow.ts';
import { readVersion } from '../prompts/known-versions.ts';
import type { Quotas } from '../workspaces/quotas.ts';
import type { ImprovementRow } from './improvements.ts';

/** A rewritten prompt of the greatest length, and a diagnosis. */
export const MAX_TOKENS = 10_000;

/** How a reflection is called, unless the request says otherwise. */
export const reflectionParameters = ({
  reflection,
  parts,
}: {
  reflection: Pick<ImprovementRequest['reflection'], 'parameters'>;
  parts: string[];
}): ModelParameters & { max_tokens: number } => ({
  ...reflection.parameters,
  max_tokens: reflection.parameters.max_tokens ?? MAX_TOKENS,
  response_format: reflectionFormat(parts),
});

/** Characters of the longest input of a reflection, with a second question. */
export const MAX_REFLECTION_CHARS = 70_000;

/** What a reflection of so many characters can cost at most, in US dollars; null if its model has no known price. */
export const reserveFor = (
  models: Pick<Models, 'priceOf'>,
  request: Pick<ImprovementRequest, 'reflection' | 'parts'>,
  chars: number,
): number | null => costOfCall(models, request.reflection.model, chars, reflectionParameters(request).max_tokens);

/** What a call with so many characters and tokens of output costs, in US dollars; null if its model has no known price. */
export function costOfCall(
  models: Pick<Models, 'priceOf'>,
  model: string,
  chars: number,
  tokens: number,
): number | null {
  const price = models.priceOf(model, chars / CHARACTERS_PER_TOKEN);
  if (price === null) return null;
  const perToken = { input: Number(price.input_per_million) / 1e6, output: Number(price.output_per_million) / 1e6 };
  return reflectionReserve(chars, tokens, perToken) + Number(price.per_request ?? 0);
}

/** Stores the call of a reflection, in the transaction of its candidate. @returns its UUID */
export async function startReflection(
  { models, quotas }: { models: Models; quotas: Pick<Quotas, 'storeExecution'> },
  query: Query,
  row: ImprovementRow,
  candidate: number,
  { variables, messages }: { variables: Record<string, string>; messages: ChatMessage[] },
): Promise<string> {
  const { reflection, reuse } = row.request;
  const { prompt, model } = reflection;
  const parameters = reflectionParameters(row.request);
  const execution = await prepareExecution(
    query,
    { models, find: readVersion },
    {
      id: newId(),
      model,
      variables,
      ...(messages.length > 0 && { messages }),
      metadata: { improvement: publicId('improvement', row.id), candidate: String(candidate) },
      ...(prompt === null
        ? { draft: { messages: REFLECTION_MESSAGES, model, parameters } }
        : { promptName: prompt.name, version: prompt.version, label: prompt.label, parameters }),
    },
  );
  await quotas.storeExecution(query, row.workspace_id, async () => {
    await insertExecution(query, execution);
  });
  // No caller waits for it.
  await query((db) => db.updateTable('executions').set({ accepted_at: now }).where('id', '=', execution.id));
  await reuseResponse(query, execution, reuse.max_age * 1_000);
  return execution.id;
}

/** A reflection that has ended, or is still at work. */
export type ReflectionResult =
  | { waitsFor: StoredExecution }
  /** `answer` null: there is none, because of `error`. `cost` in US dollars; null if unknown. */
  | { answer: string | null; error: Failure; cost: number | null; isReused: boolean };

export async function readReflectionCall(query: Query, row: ImprovementRow, id: string): Promise<ReflectionResult> {
  const [found] = await query((db) =>
    db
      .selectFrom('executions')
      .select(['status', 'output', 'error', 'prompt_name', 'prompt_version', 'model', 'reused_from'])
      .select(sql<number | null>`cost_amount::float8`.as('cost'))
      .select(
        sql<number>`(coalesce(octet_length(input), 0) + coalesce(octet_length(input_messages::text), 0))`.as('chars'),
      )
      .where('id', '=', id),
  );
  if (found === undefined)
    return {
      answer: null,
      error: { code: 'not_found', message: 'its execution was deleted' },
      cost: null,
      isReused: false,
    };
  if (!executionStates.final.includes(found.status))
    return {
      waitsFor: {
        id,
        workspaceId: row.workspace_id,
        promptName: found.prompt_name,
        promptVersion: found.prompt_version,
        model: found.model,
        inputChars: found.chars,
      },
    };
  const { error, cost, reused_from: from } = found;
  return {
    answer: found.status === 'completed' ? found.output : null,
    error: (error as Failure | null) ?? { code: found.status, message: `the call was ${found.status}` },
    // A call that failed is usually not billed.
    cost: cost ?? (found.status === 'completed' ? null : 0),
    isReused: from !== null,
  };
}
