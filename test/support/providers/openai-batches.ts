import { z } from 'zod';
import {
  type BatchProtocol,
  type BatchRequest,
  readJson,
  readMultipart,
  type StoredBatch,
  type StoredFile,
} from './batches.ts';
import { sendJson } from './response.ts';

const Line = z.strictObject({
  custom_id: z.string().min(1),
  method: z.literal('POST'),
  url: z.literal('/v1/chat/completions'),
  body: z.record(z.string(), z.unknown()),
});
const Create = z.strictObject({
  input_file_id: z.string(),
  endpoint: z.literal('/v1/chat/completions'),
  completion_window: z.literal('24h'),
  metadata: z.record(z.string(), z.string()).optional(),
  output_expires_after: z.unknown().optional(),
});
const PATH = /^\/v1\/(files|batches)(?:\/([^/]+))?(?:\/(content|cancel))?$/;
const DAY_S = 24 * 60 * 60;
const STATUSES = {
  in_progress: 'in_progress',
  ending: 'finalizing',
  canceling: 'cancelling',
  completed: 'completed',
  expired: 'expired',
  canceled: 'cancelled',
  rejected: 'failed',
} as const satisfies Record<StoredBatch['status'], string>;

/** OpenAI's files and batches: https://platform.openai.com/docs/api-reference/batch */
export const openAiBatches: BatchProtocol = {
  hasErrorFile: true,
  pathOf: () => '/v1/chat/completions',
  filePrefix: 'file-',
  idOf: (nth) => `batch_${nth}`,
  itemOf(line) {
    const { custom_id: customId, body } = Line.parse(JSON.parse(line));
    return { customId, body };
  },
  resultOf({ customId }, outcome, nth) {
    const base = { id: `batch_req_${nth}`, custom_id: customId };
    const responded = (status_code: number, body: unknown) => ({
      ...base,
      response: { status_code, request_id: `req_${nth}`, body },
      error: null,
    });
    switch (outcome.kind) {
      case 'succeeded':
        return { line: responded(200, outcome.body), isError: false };
      case 'failed':
        return { line: responded(outcome.status, outcome.body), isError: true };
      default: {
        const code = outcome.kind === 'expired' ? 'batch_expired' : 'batch_cancelled';
        const message = `This request could not be executed: ${code}.`;
        return { line: { ...base, response: null, error: { code, message } }, isError: true };
      }
    }
  },

  serves: (path) => PATH.test(path),
  async handle(request) {
    const { method, path } = request;
    const [, what, id, more] = PATH.exec(path) ?? [];
    const route = `${method} ${what}${id === undefined ? '' : '/id'}${more === undefined ? '' : `/${more}`}`;
    const handler = ROUTES[route];
    if (handler === undefined) return false;
    await handler(request, decodeURIComponent(id ?? ''));
    return true;
  },
};

const ROUTES: Record<string, (request: BatchRequest, id: string) => Promise<void>> = {
  async 'POST files'({ req, res, store }) {
    const file = store.newFile('');
    const { fields, fileName } = await readMultipart(req, file.path);
    if (fields['purpose'] !== 'batch') return refuse(res, 400, 'invalid_value', "purpose must be 'batch'");
    file.name = fileName;
    sendJson(res, 200, fileObject(store.keep(file)));
  },
  async 'GET files'({ res, query, store }) {
    const files = [...store.files.values()].toReversed();
    sendJson(res, 200, pageOf(files, query, fileObject));
  },
  async 'GET files/id'({ res, store }, id) {
    const file = store.files.get(id);
    if (file === undefined) return refuse(res, 404, null, `No such File object: ${id}`);
    sendJson(res, 200, fileObject(file));
  },
  async 'GET files/id/content'({ res, store }, id) {
    const file = store.files.get(id);
    if (file === undefined) return refuse(res, 404, null, `No such File object: ${id}`);
    await store.sendFile(file, res);
  },
  async 'DELETE files/id'({ res, store }, id) {
    if (!store.delete(id)) return refuse(res, 404, null, `No such File object: ${id}`);
    sendJson(res, 200, { id, object: 'file', deleted: true });
  },
  async 'POST batches'({ req, res, store }) {
    const { input_file_id: fileId, metadata } = Create.parse(await readJson(req));
    const file = store.files.get(fileId);
    if (file === undefined) return refuse(res, 400, 'invalid_request', `No such File object: ${fileId}`);
    const full = 'Enqueued token limit reached. Please try again once some in_progress batches have been completed.';
    const rejection = store.take('queueFull') ? { code: 'token_limit_exceeded', message: full } : undefined;
    const tag = metadata?.['prompt_management_batch'] ?? null;
    const batch = await store.create(file, { tag, model: '', extra: { metadata: metadata ?? null }, rejection });
    if (store.take('loseAnswers')) {
      res.destroy();
      return;
    }
    // Errors are reported only when it is polled.
    sendJson(res, 200, { ...batchObject(batch), status: 'validating', errors: null, failed_at: null });
  },
  async 'GET batches'({ res, query, store }) {
    sendJson(res, 200, pageOf([...store.batches.values()].toReversed(), query, batchObject));
  },
  async 'GET batches/id'({ res, store }, id) {
    const batch = store.batches.get(id);
    if (batch === undefined) return refuse(res, 404, null, `No batch found with id '${id}'.`);
    if (store.take('hangPolls')) return;
    sendJson(res, 200, batchObject(batch));
  },
  async 'POST batches/id/cancel'({ res, store }, id) {
    const batch = store.batches.get(id);
    if (batch === undefined) return refuse(res, 404, null, `No batch found with id '${id}'.`);
    if (!store.cancel(batch))
      return refuse(res, 409, null, `Cannot cancel a batch with status '${batchObject(batch).status}'.`);
    sendJson(res, 200, batchObject(batch));
  },
};

function refuse(res: BatchRequest['res'], status: number, code: string | null, message: string): void {
  sendJson(res, status, { error: { message, type: 'invalid_request_error', param: null, code } });
}

function pageOf<T extends { id: string }>(all: T[], query: URLSearchParams, show: (one: T) => { id: string }) {
  const after = query.get('after');
  const from = after === null ? 0 : all.findIndex(({ id }) => id === after) + 1;
  const page = all.slice(from, from + Number(query.get('limit') ?? 20)).map(show);
  return {
    object: 'list',
    data: page,
    first_id: page[0]?.id ?? null,
    last_id: page.at(-1)?.id ?? null,
    has_more: from + page.length < all.length,
  };
}

function fileObject({ id, name, bytes, createdAt }: StoredFile) {
  return {
    id,
    object: 'file',
    bytes,
    created_at: Math.floor(createdAt / 1000),
    filename: name,
    purpose: 'batch',
    status: 'processed',
    expires_at: null,
  };
}

function batchObject(batch: StoredBatch) {
  const createdAt = Math.floor(batch.createdAt / 1000);
  const endedAt = batch.endedAt === null ? null : Math.floor(batch.endedAt / 1000);
  const at = (...statuses: StoredBatch['status'][]) =>
    statuses.includes(batch.status) ? (endedAt ?? createdAt) : null;
  return {
    id: batch.id,
    object: 'batch',
    endpoint: '/v1/chat/completions',
    errors: batch.error === null ? null : { object: 'list', data: [{ ...batch.error, param: null, line: null }] },
    input_file_id: batch.inputFile,
    completion_window: '24h',
    status: STATUSES[batch.status],
    output_file_id: batch.outputFile,
    error_file_id: batch.errorFile,
    created_at: createdAt,
    in_progress_at: createdAt,
    expires_at: createdAt + DAY_S,
    finalizing_at: at('ending', 'completed'),
    completed_at: at('completed'),
    failed_at: at('rejected'),
    expired_at: at('expired'),
    cancelling_at: at('canceling', 'canceled'),
    cancelled_at: at('canceled'),
    request_counts: {
      total: batch.items,
      completed: batch.succeeded,
      failed: batch.endedAt === null ? 0 : batch.items - batch.succeeded,
    },
    metadata: batch.extra['metadata'] ?? null,
  };
}
