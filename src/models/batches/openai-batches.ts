import { openAsBlob } from 'node:fs';
import { FormData } from 'undici';
import { z } from 'zod';
import type { ProviderConnection } from '../http-models.ts';
import { ModelError } from '../model-error.ts';
import { type BatchClient, createBatchClient } from './batch-client.ts';
import type { BatchResult, BatchState } from './batched-models.ts';
import { linesOf, parsedLine } from './lines.ts';
import { CLOCK_MARGIN_MS, cancelUnlessEnded, ignoreGone, type ProviderBatches } from './provider-batches.ts';
import { SubmissionError } from './submission-error.ts';

// https://platform.openai.com/docs/api-reference/batch

/** The key in a batch's metadata that holds our id. */
const TAG = 'prompt_management_batch';
const STATUSES = {
  validating: 'in_progress',
  in_progress: 'in_progress',
  finalizing: 'in_progress',
  cancelling: 'in_progress',
  completed: 'ended',
  expired: 'expired',
  cancelled: 'canceled',
  failed: 'rejected',
} as const satisfies Record<string, BatchState['status']>;
type Status = keyof typeof STATUSES;

/** An accepted batch that is then rejected because other batches of the organization fill the queue. */
const QUEUE_FULL = 'token_limit_exceeded';
const ENDPOINT = '/v1/chat/completions';
const PAGE = 100;
const FILE_PAGE = 1000;

const Time = z.number().nullish();
const FileId = z.string().nullish();
const Batch = z.object({
  id: z.string().min(1),
  status: z.string(),
  created_at: Time,
  expires_at: Time,
  input_file_id: FileId,
  output_file_id: FileId,
  error_file_id: FileId,
  metadata: z.record(z.string(), z.unknown()).nullish().catch(null),
  request_counts: z
    .object({ total: z.int().nonnegative(), completed: z.int().nonnegative(), failed: z.int().nonnegative() })
    .nullish()
    .catch(null),
  errors: z
    .object({
      data: z.array(
        z.object({ code: z.string().nullish(), message: z.string().nullish(), line: z.number().nullish() }),
      ),
    })
    .nullish()
    .catch(null),
});
type Batch = z.infer<typeof Batch>;
const Batches = z.object({ data: z.array(Batch), has_more: z.boolean().optional() });
const File = z.object({ id: z.string().min(1) });
const Files = z.object({
  data: z.array(z.object({ id: z.string().min(1), filename: z.string().nullish() })),
  has_more: z.boolean().optional(),
});
const Deleted = z.object({ id: z.string() });
const Result = z.object({
  custom_id: z.string(),
  response: z.object({ status_code: z.int(), body: z.unknown() }).nullish(),
  error: z.object({ code: z.string().nullish(), message: z.string().nullish() }).nullish(),
});
/** Codes of calls that were not made before the batch ended. */
const UNFINISHED = new Set(['batch_expired', 'batch_cancelled']);

/** Batches of OpenAI, and of servers with the same API. */
export function createOpenAiBatches(connection: ProviderConnection): ProviderBatches {
  const { apiKey, redact } = connection;
  const client = createBatchClient(connection, apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` });
  const batchAt = (id: string) => `/batches/${encodeURIComponent(id)}`;

  const fetched = (id: string, signal: AbortSignal) => client.ask({ method: 'GET', path: batchAt(id), signal }, Batch);

  async function* resultsIn(fileId: string, signal: AbortSignal): AsyncGenerator<BatchResult> {
    const path = `/files/${encodeURIComponent(fileId)}/content`;
    for await (const line of linesOf(client.download({ method: 'GET', path, signal }))) {
      const parsed = Result.safeParse(parsedLine(line));
      if (parsed.success) yield { ...resultOf(parsed.data), bytes: line.length };
    }
  }

  /** Finds files by their upload name, including those whose id was never received. */
  async function filesNamed(name: string, signal: AbortSignal): Promise<string[]> {
    const found: string[] = [];
    for await (const { id, filename } of pagesOf(client, `/files?purpose=batch&limit=${FILE_PAGE}`, Files, signal)) {
      if (filename === name) found.push(id);
    }
    return found;
  }

  return {
    // The limit is 50,000 calls and 200 MB; this leaves a margin.
    limits: { items: 50_000, bytes: 190_000_000, hasTag: true },

    lineOf: (customId, { body }) => JSON.stringify({ custom_id: customId, method: 'POST', url: ENDPOINT, body }),

    async submit({ tag }, file, signal) {
      const form = new FormData();
      form.set('purpose', 'batch');
      form.set('file', await openAsBlob(file.path, { type: 'application/jsonl' }), fileName(tag));
      let fileId: string;
      try {
        fileId = (await client.ask({ path: '/files', upload: form, signal }, File)).id;
      } catch (error) {
        throw error instanceof ModelError ? new SubmissionError(error, false) : error;
      }
      const json = {
        input_file_id: fileId,
        endpoint: ENDPOINT,
        completion_window: '24h',
        metadata: { [TAG]: tag },
      };
      return stateOf(await client.create({ path: '/batches', json, signal }, Batch), redact);
    },

    async find({ tag }, { since }, signal) {
      const oldest = (since.getTime() - CLOCK_MARGIN_MS) / 1000;
      for await (const batch of pagesOf(client, `/batches?limit=${PAGE}`, Batches, signal)) {
        if (batch.metadata?.[TAG] === tag) return { kind: 'found', state: stateOf(batch, redact) };
        // The list is sorted newest first.
        if ((batch.created_at ?? oldest) < oldest) break;
      }
      return { kind: 'absent' };
    },

    read: async (id, signal) => stateOf(await fetched(id, signal), redact),

    async *results(id, signal) {
      const { output_file_id: output, error_file_id: errors } = await fetched(id, signal);
      if (output) yield* resultsIn(output, signal);
      if (errors) yield* resultsIn(errors, signal);
    },

    cancel: (id, signal) =>
      cancelUnlessEnded(
        () => client.ask({ path: `${batchAt(id)}/cancel`, signal }, Batch),
        async () => stateOf(await fetched(id, signal), redact),
      ),

    async deleteFiles({ tag }, files, signal) {
      const all = new Set([...files, ...(await filesNamed(fileName(tag), signal))]);
      for (const id of all) {
        const path = `/files/${encodeURIComponent(id)}`;
        await client.ask({ method: 'DELETE', path, signal }, Deleted).catch(ignoreGone);
      }
    },
  };
}

const fileName = (tag: string) => `${tag}.jsonl`;

function stateOf(batch: Batch, redact: (text: string) => string): BatchState {
  const { id, created_at, expires_at, request_counts: counts, errors } = batch;
  const fault = errors?.data[0];
  const status = batch.status in STATUSES ? STATUSES[batch.status as Status] : 'in_progress';
  const line = fault?.line == null ? '' : ` (line ${fault.line})`;
  return {
    providerBatchId: id,
    status,
    providerStatus: batch.status,
    counts: counts ? { total: counts.total, succeeded: counts.completed, failed: counts.failed } : null,
    submittedAt: dateOf(created_at),
    expiresAt: dateOf(expires_at),
    error:
      status !== 'rejected'
        ? null
        : {
            code: fault?.code ?? 'batch_rejected',
            message: redact(`${fault?.message ?? 'The provider rejected the batch and gave no reason.'}${line}`),
            retryable: fault?.code === QUEUE_FULL,
          },
    files: [batch.input_file_id, batch.output_file_id, batch.error_file_id].flatMap((file) => file || []),
  };
}

function dateOf(seconds: number | null | undefined): Date | null {
  return seconds == null ? null : new Date(seconds * 1000);
}

function resultOf({ custom_id: customId, response, error }: z.infer<typeof Result>): Omit<BatchResult, 'bytes'> {
  if (response != null) {
    return { customId, kind: 'responded', httpStatus: response.status_code, body: response.body };
  }
  const code = error?.code ?? 'unknown';
  const message = error?.message ?? 'The provider gave no response and no reason.';
  const kind = UNFINISHED.has(code) ? 'unfinished' : 'failed';
  return { customId, kind, httpStatus: 0, body: null, error: { code, message } };
}

/** All elements of a list, page by page. */
async function* pagesOf<T extends { id: string }>(
  client: BatchClient,
  path: string,
  shape: z.ZodType<{ data: T[]; has_more?: boolean | undefined }>,
  signal: AbortSignal,
): AsyncGenerator<T> {
  for (let after = ''; ; ) {
    const page = await client.ask({ method: 'GET', path: `${path}${after}`, signal }, shape);
    yield* page.data;
    const last = page.data.at(-1);
    if (page.has_more !== true || last === undefined) return;
    after = `&after=${encodeURIComponent(last.id)}`;
  }
}
