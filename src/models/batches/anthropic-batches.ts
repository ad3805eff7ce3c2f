import { createReadStream } from 'node:fs';
import { Readable } from 'node:stream';
import { z } from 'zod';
import type { ProviderConnection } from '../http-models.ts';
import { createBatchClient } from './batch-client.ts';
import type { BatchFile, BatchResult, BatchState } from './batched-models.ts';
import { linesOf, parsedLine } from './lines.ts';
import { CLOCK_MARGIN_MS, cancelUnlessEnded, ignoreGone, type ProviderBatches } from './provider-batches.ts';

// https://docs.anthropic.com/en/api/creating-message-batches

const VERSION = '2023-06-01';
const PAGE = 100;
/** In a line of the file, separates the beta features that the request needs from the request. */
const BETAS_END = '\t';
const [BODY_START, BODY_END] = ['{"requests":[', ']}'];

const Time = z.iso.datetime({ offset: true }).nullish().catch(null);
const Count = z.int().nonnegative();
const Batch = z.object({
  id: z.string().min(1),
  processing_status: z.string(),
  request_counts: z.object({
    processing: Count,
    succeeded: Count,
    errored: Count,
    canceled: Count,
    expired: Count,
  }),
  created_at: Time,
  expires_at: Time,
});
type Batch = z.infer<typeof Batch>;
const Batches = z.object({ data: z.array(Batch), has_more: z.boolean(), last_id: z.string().nullish() });
const Deleted = z.object({ id: z.string() });
const Result = z.object({
  custom_id: z.string(),
  result: z.discriminatedUnion('type', [
    z.object({ type: z.literal('succeeded'), message: z.unknown() }),
    z.object({
      type: z.literal('errored'),
      // The error is nested in the error response: `{type: "error", error: {type, message}}`.
      error: z.object({ error: z.object({ type: z.string(), message: z.string() }) }),
    }),
    z.object({ type: z.literal(['canceled', 'expired']) }),
  ]),
});

/** Anthropic's message batches. They have no tag and no files, and their prompts and results are deleted with the batch. */
export function createAnthropicBatches(connection: ProviderConnection): ProviderBatches {
  const { apiKey = '' } = connection;
  const client = createBatchClient(connection, { 'x-api-key': apiKey, 'anthropic-version': VERSION });
  const batchAt = (id: string) => `/messages/batches/${encodeURIComponent(id)}`;

  const read = async (id: string, signal: AbortSignal) =>
    stateOf(await client.ask({ method: 'GET', path: batchAt(id), signal }, Batch));

  async function* results(id: string, signal: AbortSignal): AsyncGenerator<BatchResult> {
    for await (const line of linesOf(client.download({ method: 'GET', path: `${batchAt(id)}/results`, signal }))) {
      const parsed = Result.safeParse(parsedLine(line));
      if (parsed.success) yield { ...resultOf(parsed.data), bytes: line.length };
    }
  }

  async function* batchesSince(oldest: Date, signal: AbortSignal): AsyncGenerator<Batch> {
    for (let after = ''; ; ) {
      const path = `/messages/batches?limit=${PAGE}${after}`;
      const page = await client.ask({ method: 'GET', path, signal }, Batches);
      for (const batch of page.data) {
        // The list is sorted newest first.
        if (batch.created_at != null && new Date(batch.created_at) < oldest) return;
        yield batch;
      }
      if (!page.has_more || !page.last_id) return;
      after = `&after_id=${encodeURIComponent(page.last_id)}`;
    }
  }

  /** Whether the results of an ended batch belong to our calls. */
  async function isOurs(id: string, tag: string, signal: AbortSignal): Promise<boolean> {
    for await (const { customId } of results(id, signal)) return customId.startsWith(`${tag}-`);
    return false;
  }

  return {
    // The limit is 100,000 calls and 256 MB; this leaves a margin.
    limits: { items: 100_000, bytes: 240_000_000, hasTag: false },

    lineOf(customId, { headers, body }) {
      const betas = headers.get('anthropic-beta');
      const line = JSON.stringify({ custom_id: customId, params: body });
      return betas === null ? line : `${betas}${BETAS_END}${line}`;
    },

    async submit(_ref, file, signal) {
      const { betas, bytes } = await measured(file);
      const headers = {
        'content-type': 'application/json',
        'content-length': String(bytes),
        ...(betas.length > 0 && { 'anthropic-beta': betas.join(',') }),
      };
      const upload = Readable.from(bodyOf(file));
      try {
        return stateOf(await client.create({ path: '/messages/batches', headers, upload, signal }, Batch));
      } finally {
        upload.destroy();
      }
    },

    async find({ tag }, { since, items, isKnown }, signal) {
      let isUndecided = false;
      const oldest = new Date(since.getTime() - CLOCK_MARGIN_MS);
      for await (const batch of batchesSince(oldest, signal)) {
        const state = stateOf(batch);
        if (state.counts?.total !== items || (await isKnown(batch.id))) continue;
        if (state.status === 'in_progress') isUndecided = true;
        else if (await isOurs(batch.id, tag, signal)) return { kind: 'found', state };
      }
      return isUndecided ? { kind: 'undecided' } : { kind: 'absent' };
    },

    read,
    results,

    cancel: (id, signal) =>
      cancelUnlessEnded(
        () => client.ask({ path: `${batchAt(id)}/cancel`, signal }, Batch),
        () => read(id, signal),
      ),

    async deleteFiles(_ref, batches, signal) {
      for (const id of batches) {
        await client.ask({ method: 'DELETE', path: batchAt(id), signal }, Deleted).catch(ignoreGone);
      }
    },
  };
}

/** Splits a line of the file into the betas and the request. */
function partsOf(line: string): [betas: string[], request: string] {
  if (line.startsWith('{')) return [[], line];
  const end = line.indexOf(BETAS_END);
  return [line.slice(0, end).split(','), line.slice(end + 1)];
}

/** The betas that all requests of a file need, and the length of its body, both required before it is sent. */
async function measured(file: BatchFile): Promise<{ betas: string[]; bytes: number }> {
  const betas = new Set<string>();
  let bytes = 0;
  for await (const line of linesOf(createReadStream(file.path))) {
    for (const beta of partsOf(line)[0]) betas.add(beta);
  }
  for await (const piece of bodyOf(file)) bytes += piece.length;
  return { betas: [...betas], bytes };
}

async function* bodyOf(file: BatchFile): AsyncGenerator<Buffer> {
  let before = BODY_START;
  for await (const line of linesOf(createReadStream(file.path))) {
    yield Buffer.from(`${before}${partsOf(line)[1]}`);
    before = ',';
  }
  yield Buffer.from(before === ',' ? BODY_END : `${BODY_START}${BODY_END}`);
}

function stateOf(batch: Batch): BatchState {
  const { processing, succeeded, errored, canceled, expired } = batch.request_counts;
  const failed = errored + canceled + expired;
  const isEnded = batch.processing_status === 'ended';
  const outcome = canceled > 0 ? 'canceled' : expired > 0 ? 'expired' : 'ended';
  return {
    providerBatchId: batch.id,
    status: isEnded ? outcome : 'in_progress',
    providerStatus: batch.processing_status,
    counts: { total: processing + succeeded + failed, succeeded, failed },
    submittedAt: dateOf(batch.created_at),
    expiresAt: dateOf(batch.expires_at),
    error: null,
    files: [batch.id],
  };
}

function dateOf(text: string | null | undefined): Date | null {
  return text == null ? null : new Date(text);
}

function resultOf({ custom_id: customId, result }: z.infer<typeof Result>): Omit<BatchResult, 'bytes'> {
  switch (result.type) {
    case 'succeeded':
      return { customId, kind: 'responded', httpStatus: 200, body: result.message };
    case 'errored': {
      const { type: code, message } = result.error.error;
      return { customId, kind: 'failed', httpStatus: 0, body: null, error: { code, message } };
    }
    default: {
      const error = { code: result.type, message: `The call was ${result.type} before it was made.` };
      return { customId, kind: 'unfinished', httpStatus: 0, body: null, error };
    }
  }
}
