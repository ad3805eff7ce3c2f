import { createReadStream } from 'node:fs';
import { z } from 'zod';
import type { ProviderConnection } from '../http-models.ts';
import { ModelError } from '../model-error.ts';
import { createBatchClient } from './batch-client.ts';
import type { BatchFile, BatchResult, BatchState } from './batched-models.ts';
import { linesOf, parsedLine } from './lines.ts';
import { cancelUnlessEnded, ignoreGone, type ProviderBatches } from './provider-batches.ts';
import { SubmissionError } from './submission-error.ts';

// https://ai.google.dev/api/batch-api

const PAGE = 100;
/** Maximum time that a batch waits and runs: https://ai.google.dev/gemini-api/docs/batch-api */
const EXPIRES_AFTER_MS = 48 * 60 * 60_000;
/** States without their prefix `BATCH_STATE_` or `JOB_STATE_`. */
const STATUSES = new Map<string, BatchState['status']>([
  ['SUCCEEDED', 'ended'],
  ['PARTIALLY_SUCCEEDED', 'ended'],
  ['FAILED', 'rejected'],
  ['CANCELLED', 'canceled'],
  ['EXPIRED', 'expired'],
]);
/** https://grpc.io/docs/guides/status-codes */
const HTTP_STATUSES = new Map([
  [3, 400],
  [4, 504],
  [5, 404],
  [7, 403],
  [8, 429],
  [9, 400],
  [11, 400],
  [13, 500],
  [14, 503],
  [16, 401],
]);
const CANCELED = 1;
/** The message for a missing file. */
const MAY_BE_GONE = /may not exist/i;

const Time = z.iso.datetime({ offset: true }).nullish().catch(null);
/** 64-bit integers are strings in Google's JSON. */
const Count = z.coerce.number().int().nonnegative().default(0);
const Status = z.object({ code: z.int().optional(), message: z.string().optional(), status: z.string().optional() });
const Output = z.object({ responsesFile: z.string().optional() });
/** A long-running operation: https://ai.google.dev/api/batch-api */
const Operation = z.object({
  name: z.string().regex(/^batches\/[^/]+$/),
  metadata: z
    .object({
      displayName: z.string().optional(),
      state: z.string().optional(),
      createTime: Time,
      batchStats: z
        .object({ requestCount: Count, successfulRequestCount: Count, failedRequestCount: Count })
        .optional()
        .catch(undefined),
      inputConfig: z.object({ fileName: z.string().optional() }).optional(),
      output: Output.optional(),
    })
    .default({}),
  error: Status.optional(),
  response: Output.optional().catch(undefined),
});
type Operation = z.infer<typeof Operation>;
const Operations = z.object({ operations: z.array(Operation).default([]), nextPageToken: z.string().optional() });
const FileName = z.string().regex(/^files\/[^/]+$/);
const Uploaded = z.object({ file: z.object({ name: FileName }) });
const Files = z.object({
  files: z.array(z.object({ name: FileName, displayName: z.string().optional() })).default([]),
  nextPageToken: z.string().optional(),
});
const Nothing = z.unknown();
const Result = z.object({
  key: z.string(),
  response: z.unknown().optional(),
  error: Status.optional(),
  status: Status.optional(),
});

/** Google's batches of calls in a file. Their `displayName` is our tag. */
export function createGoogleBatches(connection: ProviderConnection): ProviderBatches {
  const { apiKey = '', baseUrl, redact } = connection;
  const client = createBatchClient(connection, { 'x-goog-api-key': apiKey });

  const fetched = (name: string, signal: AbortSignal) =>
    client.ask({ method: 'GET', path: pathOf(name), signal }, Operation);

  /** Uses the protocol for resumable uploads, in one piece. */
  async function uploaded(tag: string, file: BatchFile, signal: AbortSignal): Promise<string> {
    const start = await client.askFor({
      path: uploadUrl(baseUrl),
      headers: {
        'x-goog-upload-protocol': 'resumable',
        'x-goog-upload-command': 'start',
        'x-goog-upload-header-content-length': String(file.bytes),
        'x-goog-upload-header-content-type': 'application/jsonl',
      },
      json: { file: { displayName: fileName(tag), mimeType: 'application/jsonl' } },
      signal,
    });
    const session = start.headers.get('x-goog-upload-url') ?? '';
    if (!URL.canParse(session))
      throw new ModelError('model_unavailable', 'The provider returned no address for the file.');
    const upload = createReadStream(file.path);
    try {
      const { file: stored } = await client.ask(
        {
          path: atOrigin(session, baseUrl),
          headers: {
            'content-length': String(file.bytes),
            'x-goog-upload-offset': '0',
            'x-goog-upload-command': 'upload, finalize',
          },
          upload,
          signal,
        },
        Uploaded,
      );
      return stored.name;
    } finally {
      upload.destroy();
    }
  }

  async function filesNamed(name: string, signal: AbortSignal): Promise<string[]> {
    const found: string[] = [];
    for (let after = ''; ; ) {
      const path = `/files?pageSize=${PAGE}${after}`;
      const page = await client.ask({ method: 'GET', path, signal }, Files);
      found.push(...page.files.filter(({ displayName }) => displayName === name).map((file) => file.name));
      if (!page.nextPageToken) return found;
      after = `&pageToken=${encodeURIComponent(page.nextPageToken)}`;
    }
  }

  return {
    // Google accepts 2 GB; this limit protects the worker's disk.
    limits: { items: 50_000, bytes: 190_000_000, hasTag: true },

    lineOf: (customId, { body }) => JSON.stringify({ key: customId, request: body }),

    async submit({ tag, modelId }, file, signal) {
      let fileName: string;
      try {
        fileName = await uploaded(tag, file, signal);
      } catch (error) {
        throw error instanceof ModelError ? new SubmissionError(error, false) : error;
      }
      const model = modelId.includes('/') ? modelId : `models/${modelId}`;
      const json = { batch: { displayName: tag, inputConfig: { fileName } } };
      const created = await client.create({ path: `/${model}:batchGenerateContent`, json, signal }, Operation);
      const state = stateOf(created, redact);
      return { ...state, files: [...new Set([fileName, ...state.files])] };
    },

    async find({ tag }, _sought, signal) {
      for (let after = ''; ; ) {
        const path = `/batches?pageSize=${PAGE}${after}`;
        const page = await client.ask({ method: 'GET', path, signal }, Operations);
        const found = page.operations.find(({ metadata }) => metadata.displayName === tag);
        if (found !== undefined) return { kind: 'found', state: stateOf(found, redact) };
        if (!page.nextPageToken) return { kind: 'absent' };
        after = `&pageToken=${encodeURIComponent(page.nextPageToken)}`;
      }
    },

    read: async (name, signal) => stateOf(await fetched(name, signal), redact),

    async *results(name, signal) {
      const file = outputOf(await fetched(name, signal));
      if (file === undefined) return;
      const path = `${pathOf(file)}:download?alt=media`;
      for await (const line of linesOf(client.download({ method: 'GET', path, signal }))) {
        const parsed = Result.safeParse(parsedLine(line));
        if (parsed.success) yield { ...resultOf(parsed.data), bytes: line.length };
      }
    },

    cancel: (name, signal) =>
      cancelUnlessEnded(
        () => client.ask({ path: `${pathOf(name)}:cancel`, json: {}, signal }, Nothing),
        async () => stateOf(await fetched(name, signal), redact),
      ),

    async deleteFiles({ tag }, files, signal) {
      for (const name of new Set([...files, ...(await filesNamed(fileName(tag), signal))])) {
        await client.ask({ method: 'DELETE', path: pathOf(name), signal }, Nothing).catch((error: unknown) => {
          // For a missing file, Google reports that access is denied.
          if (!(error instanceof ModelError) || !MAY_BE_GONE.test(error.message)) ignoreGone(error);
        });
      }
    },
  };
}

const fileName = (tag: string) => `${tag}.jsonl`;

/** The path of a `batches/…` or `files/…`. */
function pathOf(name: string): string {
  return `/${name.split('/').map(encodeURIComponent).join('/')}`;
}

/** `…/v1beta` as `…/upload/v1beta/files`. */
function uploadUrl(baseUrl: string): string {
  return `${baseUrl.replace(/\/([^/]+)$/, '/upload/$1')}/files`;
}

/** Ensures an address at the base URL's own host: only that one gets the key and the file. */
function atOrigin(url: string, baseUrl: string): string {
  const { pathname, search } = new URL(url);
  return `${new URL(baseUrl).origin}${pathname}${search}`;
}

function outputOf({ metadata, response }: Operation): string | undefined {
  return response?.responsesFile ?? metadata.output?.responsesFile;
}

function stateOf(operation: Operation, redact: (text: string) => string): BatchState {
  const { name, metadata, error } = operation;
  const { state = 'BATCH_STATE_UNSPECIFIED', createTime, batchStats: stats } = metadata;
  const named = STATUSES.get(state.replace(/^(BATCH|JOB)_STATE_/, ''));
  const output = outputOf(operation);
  // A batch that failed midway has responses that were generated and billed.
  const status = named === 'rejected' && output !== undefined ? 'ended' : (named ?? 'in_progress');
  const submittedAt = createTime == null ? null : new Date(createTime);
  const {
    requestCount: total = 0,
    successfulRequestCount: succeeded = 0,
    failedRequestCount: failed = 0,
  } = stats ?? {};
  return {
    providerBatchId: name,
    status,
    providerStatus: state,
    counts: stats === undefined ? null : { total, succeeded, failed },
    submittedAt,
    expiresAt: submittedAt === null ? null : new Date(submittedAt.getTime() + EXPIRES_AFTER_MS),
    error:
      status !== 'rejected'
        ? null
        : {
            code: error?.status ?? (error?.code === undefined ? 'batch_rejected' : String(error.code)),
            message: redact(error?.message ?? 'The provider rejected the batch and gave no reason.'),
            retryable: httpStatusOf(error?.code) === 429,
          },
    files: [metadata.inputConfig?.fileName, output].flatMap((file) => file ?? []),
  };
}

/** Codes are gRPC or HTTP codes. */
function httpStatusOf(code: number | undefined): number {
  return code === undefined ? 500 : (HTTP_STATUSES.get(code) ?? (code >= 400 ? code : 500));
}

function resultOf({ key: customId, response, error, status }: z.infer<typeof Result>): Omit<BatchResult, 'bytes'> {
  if (response !== undefined) return { customId, kind: 'responded', httpStatus: 200, body: response };
  const fault = error ?? status;
  const code = fault?.status ?? String(fault?.code ?? 'unknown');
  const message = fault?.message ?? 'The provider gave no response and no reason.';
  if (fault?.code === CANCELED || /^(cancelled|expired)$/i.test(code)) {
    return { customId, kind: 'unfinished', httpStatus: 0, body: null, error: { code, message } };
  }
  return { customId, kind: 'failed', httpStatus: httpStatusOf(fault?.code), body: null, error: { code, message } };
}
