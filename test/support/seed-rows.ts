import type { Query } from '../../src/db/database.ts';

/** Rows of one workspace, spread over some days until now. */
export interface Seed {
  workspaceId: string;
  count: number;
  days: number;
}

/** A UUIDv7 of a time, in SQL. */
const idAt = (time: string) => `encode(set_bit(set_bit(overlay(uuid_send(gen_random_uuid())
  placing substring(int8send((extract(epoch from ${time}) * 1000)::bigint) from 3) from 1 for 6), 52, 1), 53, 1), 'hex')::uuid`;

const SPREAD = `(select n, now() - make_interval(secs => ($3 * 86400.0) * (1 - n / $2::float8)) as at
                 from generate_series(1, $2::int) as n) as seeded`;

/**
 * Executions of ten prompts on four models. One in 1,000 is `failed`, one in 10,000 `canceled`; of the prompt `rare`, on the model
 * `sandbox/rare`, there is one in 50,000. One in 7 has no known price.
 */
export async function seedExecutions(query: Query, { workspaceId, count, days }: Seed): Promise<void> {
  await query(
    {
      text: `insert into executions (workspace_id, id, status, prompt_name, prompt_version, model, provider, parameters, variables, input,
               metadata, attempts, output, finish_reason, tokens_input, tokens_output, tokens_cached_input, tokens_reasoning,
               cost_amount, model_ms, error, created_at, started_at, answered_at, finished_at)
             select $1, ${idAt('at')},
               case when n % 10000 = 0 then 'canceled' when n % 1000 = 0 then 'failed' else 'completed' end,
               case when n % 50000 = 1 then 'rare' else 'seed/' || n % 10 end, 1,
               case when n % 50000 = 1 then 'sandbox/rare' else 'sandbox/m' || n % 4 end, 'sandbox', '{}', '{"text": "some text"}',
               repeat('some text ', 20), '{}', 1, case when n % 1000 > 0 then repeat('an answer ', 20) end,
               case when n % 1000 > 0 then 'stop' end, n % 97, n % 89, n % 13, n % 7,
               case when n % 7 > 0 and n % 1000 > 0 then n % 101 / 100000.0 end, 200,
               case when n % 1000 = 0 then '{"code": "model_unavailable", "message": "away"}'::jsonb end, at, at,
               case when n % 1000 > 0 then at end, at
             from ${SPREAD}`,
    },
    [workspaceId, count, days],
  );
}

/** Prompts of two versions. The first includes `common`, or in one of 5,000 prompts `rare`; it has a label in every other prompt. */
export async function seedIncludes(query: Query, { workspaceId, count, days }: Seed): Promise<void> {
  await query(
    {
      text: `with made as (
               insert into prompts (workspace_id, id, name, latest_version, created_at, updated_at)
               select $1, ${idAt('at')}, 'including/' || lpad(n::text, 6, '0'), 2, at, at from ${SPREAD} returning *
             ), labelled as (
               insert into prompt_labels (workspace_id, id, prompt_id, label, version, updated_at)
               select workspace_id, gen_random_uuid(), id, 'production', 1, updated_at from made where right(name, 1)::int % 2 = 1
             ), versions as (
               insert into prompt_versions (workspace_id, id, prompt_id, version, template, model, parameters, variables, created_at)
               select workspace_id, gen_random_uuid(), id, version, 'some text', 'sandbox/echo', '{}', '{}', created_at
               from made cross join generate_series(1, 2) as version
             )
             insert into prompt_includes (workspace_id, prompt_id, version, included_name)
             select workspace_id, id, 1, case when right(name, 6)::int % 5000 = 1 then 'rare' else 'common' end from made`,
    },
    [workspaceId, count, days],
  );
}

/** Entries of the audit log by ten keys. One in 5,000 is by the operator, one of the type `label` and one of the prompt `rare`. */
export async function seedAuditLog(query: Query, { workspaceId, count, days }: Seed): Promise<void> {
  await query(
    {
      text: `insert into audit_log (workspace_id, id, actor_type, key_id, session_id, action, resource_type, resource_id, details, created_at)
             select $1, ${idAt('at')}, case when n % 5000 = 1 then 'operator' else 'session' end,
               case when n % 5000 <> 1 then ('00000000-0000-7000-8000-00000000000' || n % 10)::uuid end,
               ('00000000-0000-7000-8000-' || lpad((n % 500)::text, 12, '0'))::uuid,
               case when n % 5000 = 1 then 'label.protected' else 'prompt.updated' end,
               case when n % 5000 = 1 then 'label' else 'prompt' end,
               case when n % 5000 = 2 then 'rare' else 'seed/' || n % 10 end, '{}', at
             from ${SPREAD}`,
    },
    [workspaceId, count, days],
  );
}

/**
 * A completed evaluation. One in 1,000 of its results is failed, and one in 5,000 a regression.
 * @returns its id
 */
export async function seedEvaluation(
  query: Query,
  { workspaceId, count, days, status = 'completed' }: Seed & { status?: string },
): Promise<string> {
  const [run] = await query<{ id: string }>(
    {
      text: `insert into evaluations (workspace_id, id, prompt_name, prompt_version, content, model, provider, parameters, dataset_name,
               dataset_version, examples_hash, examples_total, evaluators, threshold, baseline_mode, concurrency, metadata, status,
               score, scores_by_evaluator, regressions, improvements, created_at, started_at, finished_at)
             select $1, ${idAt('at')}, 'seed/0', 1, '{"template": "{{ text }}"}', 'sandbox/m0', 'sandbox', '{}', 'seed', 1, '\\x00', $2,
               '[{"type": "exact_match", "name": "exact_match"}, {"type": "llm_judge", "name": "judge", "model": "sandbox/judge"}]',
               0.8, 'none', 20, '{}', $4, 0.9, '{}', 0, 0, at, at, at
             from (select now() - make_interval(days => $3::int) as at) as seeded returning id`,
    },
    [workspaceId, count, days, status],
  );
  if (run === undefined) throw new Error('An insert without a row.');
  await query(
    {
      text: `insert into evaluation_results (evaluation_id, seq, example_key, variables, expected, status, output, finish_reason, tokens_input,
               tokens_output, tokens_cached_input, tokens_reasoning, cost_amount, model_ms, attempts, error, scores, score,
               regression, improvement, created_at)
             select $1, n - 1, 'example-' || n, '{"text": "some text"}', '"an answer"',
               case when n % 1000 = 0 then 'failed' else 'scored' end, 'an answer', case when n % 1000 > 0 then 'stop' end,
               n % 97, n % 89, 0, 0, case when n % 7 > 0 then n % 101 / 100000.0 end, 200, 1, null,
               '{"exact_match": {"score": 1, "reason": null}}', n % 11 / 10.0, n % 5000 = 0, n % 7000 = 0, at
             from ${SPREAD}`,
    },
    [run.id, count, days],
  );
  return run.id;
}

/**
 * Examples of a dataset version that belongs to no dataset.
 * @returns its id
 */
export async function seedExamples(
  query: Query,
  { workspaceId, count }: Pick<Seed, 'workspaceId' | 'count'>,
): Promise<string> {
  const [version] = await query<{ id: string }>(
    {
      text: `insert into dataset_versions (workspace_id, id, version, examples_total, hash, created_at)
             values ($1, ${idAt('now()')}, 1, $2, '\\x00', now()) returning id`,
    },
    [workspaceId, count],
  );
  if (version === undefined) throw new Error('An insert without a row.');
  await query(
    {
      text: `insert into dataset_examples (workspace_id, dataset_version_id, seq, example_key, variables, expected)
             select $1, $2, n - 1, 'example-' || n, '{"text": "some text"}', '"an answer"' from generate_series(1, $3::int) as n`,
    },
    [workspaceId, version.id, count],
  );
  return version.id;
}

/** A judge's responses for every tenth result of an evaluation. */
export async function seedJudgements(query: Query, evaluationId: string): Promise<void> {
  await query(
    {
      text: `insert into evaluation_judgements (evaluation_id, seq, evaluator, answer, asks, tokens_input, tokens_output,
               tokens_cached_input, tokens_reasoning, cost_amount, created_at)
             select evaluation_id, seq, 'judge', 'fine', 1, 50, 5, 0, 0, case when seq % 3 = 0 then 0.0001 end, created_at
             from evaluation_results where evaluation_id = $1 and seq % 10 = 0`,
    },
    [evaluationId],
  );
}

/** Prompts `seed/0` to `seed/9` and `many/1` on, each with one version; one in 1,000 has the label `rare` and the model `sandbox/rare`. */
export async function seedPrompts(query: Query, { workspaceId, count, days }: Seed): Promise<void> {
  await query(
    {
      text: `with made as (
               insert into prompts (workspace_id, id, name, latest_version, created_at, updated_at)
               select $1, ${idAt('at')}, case when n <= 10 then 'seed/' || n - 1 else 'many/' || n end, 1, at, at
               from ${SPREAD} returning *
             ), versions as (
               insert into prompt_versions (workspace_id, id, prompt_id, version, template, model, parameters, variables, created_at)
               select workspace_id, id, id, 1, '{{ text }}', case when name like '%000' then 'sandbox/rare' else 'sandbox/echo' end,
                 '{}', '{text}', created_at from made
             )
             insert into prompt_labels (workspace_id, id, prompt_id, label, version, updated_at)
             select workspace_id, id, id, 'rare', 1, created_at from made where name like '%000' or name = 'seed/0'`,
    },
    [workspaceId, count, days],
  );
}

/**
 * Events and, for one webhook, a delivery of each. One event in 20,000 is `prompt.updated`, the others concern executions; one
 * delivery in 5,000 has failed.
 * @returns the webhook's id
 */
export async function seedDeliveries(query: Query, { workspaceId, count, days }: Seed): Promise<string> {
  const [webhook] = await query<{ id: string }>(
    {
      text: `insert into webhooks (workspace_id, id, url, events, status, secret, created_at, updated_at)
             select $1, ${idAt('now()')}, 'https://example.test/', '{execution.completed}', 'enabled', '\\x00', now(), now() returning id`,
    },
    [workspaceId],
  );
  if (webhook === undefined) throw new Error('An insert without a row.');
  await query(
    {
      text: `with told as (
               insert into events (workspace_id, id, type, data, created_at, dispatched_at)
               select $1, ${idAt('at')}, case when n % 20000 = 1 then 'prompt.updated' else 'execution.completed' end, '{}', at, at
               from ${SPREAD} returning *
             )
             insert into deliveries (workspace_id, id, event_id, webhook_id, trigger, status, attempts_made, started_at, created_at, finished_at)
             select workspace_id, id, id, $4, 'event', case when row_number() over () % 5000 = 1 then 'failed' else 'delivered' end, 1,
               created_at, created_at, created_at from told`,
    },
    [workspaceId, count, days, webhook.id],
  );
  return webhook.id;
}
