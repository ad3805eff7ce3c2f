import { createWriteStream } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { z } from 'zod';
import type { BatchProtocol, BatchRequest, StoredBatch } from './batches.ts';
import { drained, ended } from './batches.ts';
import { sendJson } from './response.ts';

const Item = z.strictObject({
  custom_id: z.string().regex(/^[a-zA-Z0-9_-]{1,64}$/),
  params: z.record(z.string(), z.unknown()),
});
const PATH = /^\/v1\/messages\/batches(?:\/([^/]+))?(?:\/(cancel|results))?$/;
const DAY_MS = 24 * 60 * 60_000;

/** Anthropic's message batches: https://docs.anthropic.com/en/api/creating-message-batches */
export const anthropicBatches: BatchProtocol = {
  hasErrorFile: false,
  filePrefix: 'file-',
  idOf: (nth) => `msgbatch_${nth}`,
  pathOf: () => '/v1/messages',
  itemOf(line) {
    const { custom_id: customId, params } = Item.parse(JSON.parse(line));
    return { customId, body: params };
  },
  resultOf({ customId }, outcome) {
    const result =
      outcome.kind === 'succeeded'
        ? { type: 'succeeded', message: billedAsBatch(outcome.body) }
        : outcome.kind === 'failed'
          ? { type: 'errored', error: { ...Object(outcome.body), request_id: null } }
          : { type: outcome.kind };
    return { line: { custom_id: customId, result }, isError: false };
  },

  serves: (path) => PATH.test(path),
  async handle(request) {
    const [, id, more] = PATH.exec(request.path) ?? [];
    const handler = ROUTES[`${request.method}${id === undefined ? '' : ' id'}${more === undefined ? '' : `/${more}`}`];
    if (handler === undefined) return false;
    const { 'x-api-key': key, authorization, 'anthropic-version': version } = request.req.headers;
    if ((key ?? authorization) === undefined) refuse(request.res, 401, 'authentication_error', 'x-api-key is needed');
    else if (version === undefined) refuse(request.res, 400, 'invalid_request_error', 'anthropic-version is needed');
    else await handler(request, decodeURIComponent(id ?? ''));
    return true;
  },
};

const ROUTES: Record<string, (request: BatchRequest, id: string) => Promise<void>> = {
  async POST({ req, res, store }) {
    if (store.take('queueFull')) {
      req.resume();
      return refuse(
        res,
        429,
        'rate_limit_error',
        'This request would exceed the limit of batch requests in the queue.',
      );
    }
    const file = store.newFile('requests.jsonl');
    await writeRequests(req, file.path);
    const batch = await store.create(store.keep(file), {
      tag: null,
      model: '',
      extra: { betas: req.headers['anthropic-beta'] },
    });
    if (batch.error !== null) {
      store.forget(batch);
      return refuse(res, 400, 'invalid_request_error', batch.error.message);
    }
    if (store.take('loseAnswers')) res.destroy();
    else sendJson(res, 200, batchObject(batch, req));
  },
  async GET({ req, res, query, store }) {
    const all = [...store.batches.values()].toReversed();
    const after = query.get('after_id');
    const from = after === null ? 0 : all.findIndex(({ id }) => id === after) + 1;
    const page = all.slice(from, from + Number(query.get('limit') ?? 20));
    sendJson(res, 200, {
      data: page.map((batch) => batchObject(batch, req)),
      has_more: from + page.length < all.length,
      first_id: page[0]?.id ?? null,
      last_id: page.at(-1)?.id ?? null,
    });
  },
  async 'GET id'({ req, res, store }, id) {
    const batch = store.batches.get(id);
    if (batch === undefined) return refuse(res, 404, 'not_found_error', 'Batch not found.');
    if (!store.take('hangPolls')) sendJson(res, 200, batchObject(batch, req));
  },
  async 'DELETE id'({ res, store }, id) {
    const batch = store.batches.get(id);
    if (batch === undefined) return refuse(res, 404, 'not_found_error', 'Batch not found.');
    if (batch.endedAt === null)
      return refuse(res, 400, 'invalid_request_error', 'A batch in progress cannot be deleted.');
    store.forget(batch);
    sendJson(res, 200, { id, type: 'message_batch_deleted' });
  },
  async 'POST id/cancel'({ req, res, store }, id) {
    const batch = store.batches.get(id);
    if (batch === undefined) return refuse(res, 404, 'not_found_error', 'Batch not found.');
    if (!store.cancel(batch)) return refuse(res, 400, 'invalid_request_error', 'The batch has ended.');
    batch.extra['cancelledAt'] = new Date().toISOString();
    sendJson(res, 200, batchObject(batch, req));
  },
  async 'GET id/results'({ res, store }, id) {
    const file = store.files.get(store.batches.get(id)?.outputFile ?? '');
    if (file === undefined) return refuse(res, 404, 'not_found_error', 'There are no results.');
    await store.sendFile(file, res);
  },
};

function refuse(res: ServerResponse, status: number, type: string, message: string): void {
  sendJson(res, status, { type: 'error', error: { type, message }, request_id: null });
}

function billedAsBatch(message: unknown): unknown {
  const { usage, ...rest } = Object(message) as { usage?: object };
  return usage === undefined ? rest : { ...rest, usage: { ...usage, service_tier: 'batch' } };
}

function batchObject(batch: StoredBatch, req: IncomingMessage) {
  const isEnded = batch.endedAt !== null;
  const left = batch.items - batch.succeeded - batch.failed;
  return {
    id: batch.id,
    type: 'message_batch',
    processing_status: isEnded ? 'ended' : batch.status === 'canceling' ? 'canceling' : 'in_progress',
    request_counts: {
      // Counts are reported when all have ended.
      processing: isEnded ? 0 : batch.items,
      succeeded: isEnded ? batch.succeeded : 0,
      errored: isEnded ? batch.failed : 0,
      canceled: isEnded && batch.status === 'canceled' ? left : 0,
      expired: isEnded && batch.status === 'expired' ? left : 0,
    },
    created_at: new Date(batch.createdAt).toISOString(),
    expires_at: new Date(batch.createdAt + DAY_MS).toISOString(),
    ended_at: batch.endedAt === null ? null : new Date(batch.endedAt).toISOString(),
    archived_at: null,
    cancel_initiated_at: batch.extra['cancelledAt'] ?? null,
    results_url: isEnded ? `http://${req.headers.host ?? ''}/v1/messages/batches/${batch.id}/results` : null,
  };
}

const [QUOTE, BACKSLASH, OPEN, CLOSE, OPEN_LIST, CLOSE_LIST] = Buffer.from('"\\{}[]');

/** Writes the objects in a body's list as lines, as they arrive: a list of many requests is never whole in memory. */
async function writeRequests(req: IncomingMessage, path: string): Promise<void> {
  const out = createWriteStream(path);
  let [depth, isInText, isEscaped] = [0, false, false];
  for await (const chunk of req as AsyncIterable<Buffer>) {
    // The start of the part to write in this chunk: nothing outside of the list's objects is written.
    let start = depth >= 3 ? 0 : -1;
    for (let at = 0; at < chunk.length; at += 1) {
      const byte = chunk[at];
      if (isInText) {
        if (isEscaped) isEscaped = false;
        else if (byte === BACKSLASH) isEscaped = true;
        else if (byte === QUOTE) isInText = false;
      } else if (byte === QUOTE) isInText = true;
      else if (byte === OPEN || byte === OPEN_LIST) {
        depth += 1;
        if (depth === 3) start = at;
      } else if (byte === CLOSE || byte === CLOSE_LIST) {
        depth -= 1;
        if (depth === 2) {
          await drained(out, Buffer.concat([chunk.subarray(start, at + 1), Buffer.from('\n')]));
          start = -1;
        }
      }
    }
    if (start !== -1) await drained(out, Buffer.from(chunk.subarray(start)));
  }
  await ended(out);
}
