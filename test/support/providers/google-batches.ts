import { createWriteStream } from 'node:fs';
import { z } from 'zod';
import {
  type BatchProtocol,
  type BatchRequest,
  drained,
  ended,
  readJson,
  type StoredBatch,
  type StoredFile,
} from './batches.ts';
import { sendJson } from './response.ts';

const Line = z.strictObject({ key: z.string().min(1), request: z.record(z.string(), z.unknown()) });
const Create = z.strictObject({
  batch: z.strictObject({
    displayName: z.string(),
    model: z.string().optional(),
    inputConfig: z.strictObject({ fileName: z.string() }),
    priority: z.string().optional(),
  }),
});
const Start = z.object({ file: z.object({ displayName: z.string().optional() }).default({}) });

const ROUTES: readonly (readonly [string, RegExp, (request: BatchRequest, id: string) => Promise<void>])[] = [
  ['POST', /^\/upload\/v1beta\/files$/, upload],
  ['GET', /^\/v1beta\/files$/, listFiles],
  ['GET', /^\/v1beta\/(files\/[^/:]+):download$/, download],
  ['GET', /^\/v1beta\/(files\/[^/:]+)$/, showFile],
  ['DELETE', /^\/v1beta\/(files\/[^/:]+)$/, deleteFile],
  ['POST', /^\/v1beta\/models\/([^/:]+):batchGenerateContent$/, create],
  ['GET', /^\/v1beta\/batches$/, list],
  ['GET', /^\/v1beta\/(batches\/[^/:]+)$/, show],
  ['DELETE', /^\/v1beta\/(batches\/[^/:]+)$/, deleteBatch],
  ['POST', /^\/v1beta\/(batches\/[^/:]+):cancel$/, cancel],
];
const STATES = {
  in_progress: 'RUNNING',
  ending: 'RUNNING',
  canceling: 'RUNNING',
  completed: 'SUCCEEDED',
  expired: 'EXPIRED',
  canceled: 'CANCELLED',
  rejected: 'FAILED',
} as const satisfies Record<StoredBatch['status'], string>;

/** Google's files and batches: https://ai.google.dev/api/batch-api */
export const googleBatches: BatchProtocol = {
  hasErrorFile: false,
  filePrefix: 'files/f',
  idOf: (nth) => `batches/b${nth}`,
  pathOf: (model) => `/v1beta/models/${model}:generateContent`,
  itemOf(line) {
    const { key, request } = Line.parse(JSON.parse(line));
    return { customId: key, body: request };
  },
  resultOf({ customId: key }, outcome) {
    switch (outcome.kind) {
      case 'succeeded':
        return { line: { key, response: outcome.body }, isError: false };
      case 'failed':
        return { line: { key, error: Object(outcome.body).error }, isError: false };
      default:
        // Items that did not run are in no file.
        return undefined;
    }
  },
  serves: (path) => ROUTES.some(([, pattern]) => pattern.test(path)),
  async handle(request) {
    for (const [method, pattern, handler] of ROUTES) {
      const match = pattern.exec(request.path);
      if (method !== request.method || match === null) continue;
      await handler(request, match[1] ?? '');
      return true;
    }
    return false;
  },
};

/** The protocol for resumable uploads: a first request announces the content, and further ones send it. */
async function upload({ req, res, query, store }: BatchRequest): Promise<void> {
  const command = String(req.headers['x-goog-upload-command'] ?? '');
  if (command === 'start') {
    const { file } = Start.parse(await readJson(req));
    const begun = store.newFile(file.displayName ?? '');
    store.uploads.set(begun.id, begun);
    const url = `http://${req.headers.host ?? ''}/upload/v1beta/files?upload_id=${encodeURIComponent(begun.id)}`;
    return sendJson(res, 200, {}, { 'x-goog-upload-url': url, 'x-goog-upload-status': 'active' });
  }
  const begun = store.uploads.get(query.get('upload_id') ?? '');
  if (begun === undefined) return refuse(res, 404, 'NOT_FOUND', 'There is no such upload.');
  const out = createWriteStream(begun.path, { flags: req.headers['x-goog-upload-offset'] === '0' ? 'w' : 'a' });
  for await (const chunk of req as AsyncIterable<Buffer>) await drained(out, chunk);
  await ended(out);
  if (!command.includes('finalize')) return sendJson(res, 200, {}, { 'x-goog-upload-status': 'active' });
  store.uploads.delete(begun.id);
  sendJson(res, 200, { file: fileObject(store.keep(begun)) }, { 'x-goog-upload-status': 'final' });
}

async function listFiles({ res, query, store }: BatchRequest): Promise<void> {
  const { page, nextPageToken } = pageOf([...store.files.values()], query);
  sendJson(res, 200, { files: page.map(fileObject), ...(nextPageToken && { nextPageToken }) });
}

async function showFile({ res, store }: BatchRequest, id: string): Promise<void> {
  const file = store.files.get(id);
  if (file === undefined) refuseFile(res, id);
  else sendJson(res, 200, fileObject(file));
}

async function download({ res, store }: BatchRequest, id: string): Promise<void> {
  const file = store.files.get(id);
  if (file === undefined) refuseFile(res, id);
  else await store.sendFile(file, res);
}

async function deleteFile({ res, store }: BatchRequest, id: string): Promise<void> {
  if (store.delete(id)) sendJson(res, 200, {});
  else refuseFile(res, id);
}

async function create({ req, res, store }: BatchRequest, model: string): Promise<void> {
  const { displayName, inputConfig } = Create.parse(await readJson(req)).batch;
  const file = store.files.get(inputConfig.fileName);
  if (file === undefined) return refuseFile(res, inputConfig.fileName);
  if (store.take('queueFull')) {
    return refuse(res, 429, 'RESOURCE_EXHAUSTED', 'You exceeded the limit of tokens that batches may have enqueued.');
  }
  const batch = await store.create(file, { tag: displayName, model });
  if (store.take('loseAnswers')) res.destroy();
  // Errors are reported only when it is polled.
  else sendJson(res, 200, operation({ ...batch, status: 'in_progress', error: null }, 'PENDING'));
}

async function list({ res, query, store }: BatchRequest): Promise<void> {
  const { page, nextPageToken } = pageOf([...store.batches.values()], query);
  sendJson(res, 200, { operations: page.map((batch) => operation(batch)), ...(nextPageToken && { nextPageToken }) });
}

async function show({ res, store }: BatchRequest, id: string): Promise<void> {
  const batch = store.batches.get(id);
  if (batch === undefined) refuse(res, 404, 'NOT_FOUND', 'Requested entity was not found.');
  else if (!store.take('hangPolls')) sendJson(res, 200, operation(batch));
}

async function deleteBatch({ res, store }: BatchRequest, id: string): Promise<void> {
  if (store.batches.delete(id)) sendJson(res, 200, {});
  else refuse(res, 404, 'NOT_FOUND', 'Requested entity was not found.');
}

async function cancel({ res, store }: BatchRequest, id: string): Promise<void> {
  const batch = store.batches.get(id);
  if (batch === undefined) refuse(res, 404, 'NOT_FOUND', 'Requested entity was not found.');
  else if (store.cancel(batch)) sendJson(res, 200, {});
  else refuse(res, 400, 'FAILED_PRECONDITION', 'The batch has ended.');
}

function refuse(res: BatchRequest['res'], code: number, status: string, message: string): void {
  sendJson(res, code, { error: { code, message, status } });
}

function refuseFile(res: BatchRequest['res'], id: string): void {
  refuse(res, 403, 'PERMISSION_DENIED', `You do not have permission to access the File ${id} or it may not exist.`);
}

function pageOf<T>(all: T[], query: URLSearchParams): { page: T[]; nextPageToken: string | undefined } {
  const from = Number(query.get('pageToken') ?? 0);
  const page = all.slice(from, from + Number(query.get('pageSize') ?? 50));
  const next = from + page.length;
  return { page, nextPageToken: next < all.length ? String(next) : undefined };
}

function fileObject({ id, name, bytes, createdAt }: StoredFile) {
  const created = new Date(createdAt);
  return {
    name: id,
    displayName: name,
    mimeType: 'application/jsonl',
    sizeBytes: String(bytes),
    createTime: created.toISOString(),
    updateTime: created.toISOString(),
    expirationTime: new Date(createdAt + 48 * 60 * 60_000).toISOString(),
    state: 'ACTIVE',
    source: 'UPLOADED',
  };
}

function operation(batch: StoredBatch, state: string = STATES[batch.status]) {
  const isEnded = batch.endedAt !== null;
  // An expired one has none.
  const output =
    batch.outputFile === null || batch.status === 'expired' ? undefined : { responsesFile: batch.outputFile };
  return {
    name: batch.id,
    metadata: {
      '@type': 'type.googleapis.com/google.ai.generativelanguage.v1main.GenerateContentBatch',
      model: `models/${batch.model}`,
      displayName: batch.tag,
      inputConfig: { fileName: batch.inputFile },
      ...(output && { output }),
      createTime: new Date(batch.createdAt).toISOString(),
      updateTime: new Date(batch.endedAt ?? batch.createdAt).toISOString(),
      ...(batch.endedAt !== null && { endTime: new Date(batch.endedAt).toISOString() }),
      batchStats: {
        requestCount: String(batch.items),
        successfulRequestCount: String(batch.succeeded),
        failedRequestCount: String(batch.failed),
        pendingRequestCount: String(batch.items - batch.succeeded - batch.failed),
      },
      state: `BATCH_STATE_${state}`,
      name: batch.id,
    },
    ...(isEnded && batch.error !== null && { done: true, error: { code: 3, message: batch.error.message } }),
    ...(isEnded && batch.error === null && { done: true, ...(output && { response: output }) }),
  };
}
