import type { Query } from '../../db/database.ts';
import { untilDatabaseAnswers } from '../../db/until-database-answers.ts';
import { publicId } from '../../domain/ids.ts';
import type { Cost } from '../../domain/usage.ts';
import type { BatchResult, BatchState } from '../../models/batches/batched-models.ts';
import type { Models } from '../../models/model.ts';
import { ModelError } from '../../models/model-error.ts';
import { type LoadedBatch, refOf } from '../../services/batches/load-batch.ts';
import { loadExamplesOf, type OpenExample } from '../../services/evaluations/run/open-examples.ts';
import { fallsBackOn } from '../../services/executions/run/fall-back.ts';
import type { Slots } from '../../temporal/slots.ts';
import { ExampleStore } from '../evaluation-run/example-store.ts';
import { NotStorableError } from '../scoring/stored-results.ts';
import { BatchedCalls } from './batched-calls.ts';

export interface SettleDeps {
  query: Query;
  models: Models;
  slots: Pick<Slots, 'inputs'>;
}

/** Maximum number of results, or their bytes, in memory at a time. */
const GROUP = 100;
const GROUP_BYTES = 2 * 1024 * 1024;

/**
 * Stores the results of a batch's calls, each once, in any order; storing again changes nothing. Calls that the provider did not
 * finish, or whose failure a retry can fix, stay open.
 * @param onProgress called with the number of results read
 * @throws ModelError if the download broke off: start it again
 */
export async function settleResults(
  { query, models, slots }: SettleDeps,
  batch: LoadedBatch,
  state: BatchState,
  signal: AbortSignal,
  onProgress: (results: number) => void,
): Promise<void> {
  const ref = refOf(batch);
  const calls = new BatchedCalls(batch);
  const store = new ExampleStore(query, batch.evaluationId, batch, signal);
  const workspace = publicId('workspace', batch.workspaceId);
  let group = new Map<number, BatchResult>();
  let groupBytes = 0;
  let read = 0;

  /** The amount to charge against the budget for a call of unknown cost. */
  const assumedFor = ({ amount }: Cost) => (amount === null ? batch.reservedUsd / Math.max(1, batch.items) : undefined);

  async function settleResponse(example: OpenExample, result: BatchResult): Promise<void> {
    const { seq } = example;
    const { batchModel: model, fallbackModels } = batch;
    const call = calls.callOf(example, signal);
    try {
      const response = { ...(await models.batches.toResponse(call, result)), attempts: 1, model };
      const callHash = calls.hashOf(call).toString('hex');
      const assumedUsd = assumedFor(response.cost);
      const stored = { status: 'answered', response, callHash, assumedUsd, isUntimed: true } as const;
      await store.storeResult(seq, stored, calls.outcomeOf(seq));
    } catch (error) {
      if (!(error instanceof ModelError)) throw error;
      const { code, message, spent, retryable } = error;
      const isLeft = retryable || code === 'model_authentication' || (fallbackModels.length > 0 && fallsBackOn(code));
      if (isLeft && spent === undefined) return;
      const failed = { status: 'failed', error: { code, message }, attempts: 1, model, spent } as const;
      const assumedUsd = spent && assumedFor(spent.cost);
      await store.storeResult(seq, { ...failed, assumedUsd }, calls.outcomeOf(seq));
    }
  }

  async function settleJudgement(example: OpenExample, evaluator: string, result: BatchResult): Promise<void> {
    const { seq } = example;
    try {
      const spent = await models.batches.toResponse(calls.callOf(example, signal), result);
      const judgement = { response: spent.output, asks: 1, spent, assumedUsd: assumedFor(spent.cost) };
      await store.storeJudgement(seq, evaluator, judgement, calls.outcomeOf(seq));
    } catch (error) {
      // The judge is called again individually.
      if (error instanceof NotStorableError) return;
      if (!(error instanceof ModelError)) throw error;
      const { spent } = error;
      if (spent === undefined) return;
      const judgement = { response: null, asks: 0, spent, assumedUsd: assumedFor(spent.cost) };
      await store.storeJudgement(seq, evaluator, judgement, calls.outcomeOf(seq));
    }
  }

  async function settle(example: OpenExample): Promise<void> {
    const result = group.get(example.seq);
    if (result === undefined) return;
    // Its call is rebuilt as a whole prompt.
    const amount = calls.weightOf(example);
    const release = await slots.inputs.acquire(workspace, { amount, signal, group: batch.id });
    try {
      if (batch.evaluator === null) await settleResponse(example, result);
      else await settleJudgement(example, batch.evaluator, result);
    } finally {
      release();
    }
  }

  async function settleGroup(): Promise<void> {
    let seqs = [...group.keys()];
    while (seqs.length > 0) {
      signal.throwIfAborted();
      const asked = seqs;
      const examples = await untilDatabaseAnswers(
        () => loadExamplesOf(query, batch.evaluationId, batch, asked),
        signal,
      );
      // The dataset is gone.
      if (examples.length === 0) break;
      await Promise.all(examples.map(settle));
      const last = examples.at(-1)?.seq ?? 0;
      seqs = seqs.filter((seq) => seq > last);
    }
    group = new Map();
    groupBytes = 0;
    onProgress(read);
  }

  for await (const result of models.batches.results(ref, state, signal)) {
    const seq = models.batches.seqOf(ref, result.customId);
    if (seq === undefined || seq < batch.from || seq >= batch.to) continue;
    read += 1;
    if (result.kind === 'unfinished') continue;
    group.set(seq, result);
    groupBytes += result.bytes;
    if (group.size >= GROUP || groupBytes >= GROUP_BYTES) await settleGroup();
  }
  await settleGroup();
}
