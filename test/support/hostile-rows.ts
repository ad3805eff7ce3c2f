import type { Query } from '../../src/db/database.ts';
import { UUID_V7 } from '../../src/db/uuid-v7.ts';
import { newId, publicId } from '../../src/domain/ids.ts';

const EVALUATORS = [{ type: 'exact_match', name: 'exact_match', weight: 1 }];

/** Writes completed executions with an output of that many bytes, without the API. */
export async function insertExecutions(
  query: Query,
  workspaceId: string,
  count: number,
  bytes: number,
  promptName: string,
): Promise<void> {
  await query(
    {
      text: `insert into executions (workspace_id, id, status, prompt_name, prompt_version, model, provider, parameters,
               variables, input, metadata, created_at, started_at, answered_at, finished_at, accepted_at, output, finish_reason,
               tokens_input, tokens_output, cost_amount, attempts)
             select $1, ${UUID_V7}, 'completed', $4, 1, 'openai/gpt-4o-mini', 'openai', '{}', '{}', 'Say hi', '{}',
               now(), now(), now(), now(), now(), repeat('x', $3), 'stop', 10, 10, 0.0001, 1
             from generate_series(1, $2)`,
    },
    [workspaceId, count, bytes, promptName],
  );
}

/** Writes a completed run with that many results, without the API. @returns its public id */
export async function insertRun(query: Query, workspaceId: string, results: number): Promise<string> {
  const id = newId();
  await query(
    {
      text: `insert into evaluations (workspace_id, id, prompt_name, prompt_version, content, model, provider, parameters,
               examples_hash, examples_total, evaluators, threshold, baseline_mode, concurrency, metadata, status, score,
               created_at, accepted_at, started_at, finished_at)
             values ($1, $2, 'large', 1, '{"template": "Say {{ text }}"}', 'openai/gpt-4o-mini', 'openai', '{}', '\\x00', $3, $4::jsonb, 0.8, 'none',
               20, '{}', 'completed', 0.5, now(), now(), now(), now())`,
    },
    [workspaceId, id, results, JSON.stringify(EVALUATORS)],
  );
  // In parts, to stay within the statement timeout.
  const part = 100_000;
  for (let from = 0; from < results; from += part)
    await query(
      {
        text: `insert into evaluation_results (evaluation_id, seq, example_key, variables, status, output, tokens_input,
                 tokens_output, cost_amount, model_ms, attempts, scores, score, created_at)
               select $1, n, 'example-' || n, '{"text": "hi"}', 'scored', 'Answer to: Say hi', 10, 10, 0.0001, 100, 1,
                 jsonb_build_object('exact_match', jsonb_build_object('score', (n::bigint * 7919 % 97) % 2, 'reason', null)),
                 (n::bigint * 7919 % 97) % 2, now()
               from generate_series($2::int, $3::int) n`,
      },
      [id, from, Math.min(results, from + part) - 1],
    );
  return publicId('evaluation', id);
}
