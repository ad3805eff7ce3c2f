import { type Attributes, SpanKind } from '@opentelemetry/api';
import type { BatchedModels, BatchRef, BatchResult, BatchState } from '../models/batches/batched-models.ts';
import type { ModelResponse } from '../models/model-call.ts';
import { namesOf } from './model-names.ts';
import { attributesOf, inSpan, markFailed, OUR, spentBy, tracer, typeOf } from './spans.ts';

// The provider makes the calls in a batch, so the batch is traced instead. A poll without a change has no span, so a batch has only a
// handful of spans however long it takes.

type Operation = 'batch.submit' | 'batch.find' | 'batch.poll' | 'batch.import' | 'batch.cancel' | 'batch.clean_up';

function startSpan(operation: Operation, { model, tag }: BatchRef, more: Attributes = {}, startTime = Date.now()) {
  const names = namesOf(model);
  return tracer.startSpan(`${operation} ${names['gen_ai.request.model']}`, {
    kind: SpanKind.CLIENT,
    startTime,
    attributes: { 'gen_ai.operation.name': operation, ...names, [OUR.batch]: tag, ...more },
  });
}

const stateAttributes = ({ providerBatchId, status, counts }: BatchState): Attributes =>
  attributesOf({
    'pms.batch.provider_id': providerBatchId,
    'pms.batch.status': status,
    'pms.batch.succeeded': counts?.succeeded,
    'pms.batch.failed': counts?.failed,
  });

/**
 * Wraps batched models with spans for batch operations.
 * @param countTokens called with the usage of each call in a batch
 */
export function traceBatches(
  batches: BatchedModels,
  countTokens: (model: string, used: Pick<ModelResponse, 'tokens' | 'providerModel'>) => void,
): BatchedModels {
  async function poll(ref: BatchRef, read: () => Promise<BatchState>): Promise<BatchState> {
    const startTime = Date.now();
    const begin = () => startSpan('batch.poll', ref, {}, startTime);
    try {
      const state = await read();
      if (state.status !== 'in_progress') begin().setAttributes(stateAttributes(state)).end();
      return state;
    } catch (error) {
      const span = begin();
      markFailed(span, typeOf(error));
      span.end();
      throw error;
    }
  }

  async function* importResults(ref: BatchRef, results: AsyncIterable<BatchResult>): AsyncIterable<BatchResult> {
    const span = startSpan('batch.import', ref);
    const counts = { responded: 0, unfinished: 0, failed: 0 };
    try {
      for await (const result of results) {
        counts[result.kind] += 1;
        yield result;
      }
    } catch (error) {
      markFailed(span, typeOf(error));
      throw error;
    } finally {
      for (const [kind, count] of Object.entries(counts)) span.setAttribute(`pms.batch.${kind}`, count);
      span.end();
    }
  }

  return {
    problemOf: (model) => batches.problemOf(model),
    priceOf: (model, atInputTokens) => batches.priceOf(model, atInputTokens),
    limitsOf: (provider) => batches.limitsOf(provider),
    customIdOf: (ref, seq) => batches.customIdOf(ref, seq),
    seqOf: (ref, customId) => batches.seqOf(ref, customId),
    toLine: (call, customId) => batches.toLine(call, customId),
    submit(ref, file, signal) {
      const span = startSpan('batch.submit', ref, { 'pms.batch.items': file.items, 'pms.batch.bytes': file.bytes });
      return inSpan(span, async () => {
        const state = await batches.submit(ref, file, signal);
        span.setAttributes(stateAttributes(state));
        return state;
      });
    },
    find: (ref, sought, signal) => inSpan(startSpan('batch.find', ref), () => batches.find(ref, sought, signal)),
    read: (ref, providerBatchId, signal) => poll(ref, () => batches.read(ref, providerBatchId, signal)),
    results: (ref, state, signal) => importResults(ref, batches.results(ref, state, signal)),
    cancel: (ref, providerBatchId, signal) =>
      inSpan(startSpan('batch.cancel', ref), () => batches.cancel(ref, providerBatchId, signal)),
    deleteFiles: (ref, files, signal) =>
      inSpan(startSpan('batch.clean_up', ref), () => batches.deleteFiles(ref, files, signal)),
    async toResponse(call, result) {
      try {
        const response = await batches.toResponse(call, result);
        countTokens(call.model, response);
        return response;
      } catch (error) {
        const spent = spentBy(error);
        if (spent !== undefined) countTokens(call.model, { tokens: spent, providerModel: null });
        throw error;
      }
    },
  };
}
