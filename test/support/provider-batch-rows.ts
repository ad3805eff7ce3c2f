import { newId, parsePublicId } from '../../src/domain/ids.ts';
import type { TestService } from './service.ts';

/** Columns of a row in `provider_batches`, as the provider and its workflow would have written them. */
export interface BatchColumns {
  number?: number;
  wave?: 'responses' | 'judgements';
  evaluator?: string | null;
  status?: string;
  items?: number;
  provider_batch_id?: string | null;
  provider_status?: string | null;
  counts?: { total: number; succeeded: number; failed: number } | null;
  error?: { code: string; message: string } | null;
  submitted_at?: string | null;
  expires_at?: string | null;
  next_poll_at?: string | null;
  finished_at?: string | null;
}

/** Writes a batch of an evaluation past the service: it has no workflow. @returns its id */
export async function insertBatch(service: TestService, evaluationId: string, row: BatchColumns = {}): Promise<string> {
  const id = newId();
  const evaluation = parsePublicId('evaluation', evaluationId);
  const columns = {
    number: 1,
    wave: 'responses',
    status: 'in_progress',
    items: 1_000,
    provider_batch_id: 'batch_abc',
    ...row,
    counts: row.counts && JSON.stringify(row.counts),
    error: row.error && JSON.stringify(row.error),
  };
  const given = Object.entries(columns).filter(([, value]) => value !== undefined);
  const names = given.map(([name]) => name).join(', ');
  await service.dependencies.db.system.query(
    {
      text: `insert into provider_batches (id, workspace_id, evaluation_id, round, provider, model, seq_from, seq_to, created_at, ${names})
             select $1, workspace_id, id, 0, provider, model, 0, examples_total, now(), ${given.map((_, index) => `$${index + 3}`).join(', ')}
             from evaluations where id = $2`,
    },
    [id, evaluation, ...given.map(([, value]) => value)],
  );
  return id;
}

/** Marks results as paid at batch prices, with their cost. */
export async function insertBatchedResult(
  service: TestService,
  evaluationId: string,
  { seq, costUsd, multiplier }: { seq: number; costUsd: string; multiplier: string },
): Promise<void> {
  const pricing = {
    source: 'operator',
    model: 'openai/*',
    input_per_million: '1',
    cached_input_per_million: '1',
    output_per_million: '1',
    batch_multiplier: multiplier,
    batch_source: 'https://example.com/prices',
  };
  await service.dependencies.db.system.query(
    {
      text: `insert into evaluation_results (evaluation_id, seq, example_key, variables, status, output, attempts,
               tokens_input, tokens_output, tokens_cached_input, tokens_reasoning, cost_amount, pricing, outcome_ids, created_at)
             values ($1, $2::int, $2::int::text, '{}', 'answered', 'x', 1, 1, 1, 0, 0, $3, $4, '{}', now())`,
    },
    [parsePublicId('evaluation', evaluationId), seq, costUsd, JSON.stringify(pricing)],
  );
}
