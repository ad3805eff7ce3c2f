import { createReadStream, createWriteStream, mkdtempSync, rmSync, statSync, type WriteStream } from 'node:fs';
import { open } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { z } from 'zod';
import type { Protocol } from './protocol.ts';
import { sendJson, untilDrained } from './response.ts';

/** How a stand-in's batches behave. Everything is off by default; counts decrease with each use. */
export const BatchBehaviour = z.strictObject({
  /** From creating a batch to its end, in milliseconds; null: the test ends it. Default 0. */
  completeMs: z.number().nonnegative().nullable().optional(),
  /** Rejects a batch as a whole during validation. */
  reject: z.strictObject({ code: z.string(), message: z.string() }).optional(),
  /** Rejects that many batches because the queue is full, in the provider's own way. */
  queueFull: z.int().nonnegative().optional(),
  /** Every nth call of a batch fails. */
  failEvery: z.int().positive().optional(),
  /** Batches expire when this share of them is done. */
  expireAt: z.number().min(0).max(1).optional(),
  /** The share of a batch that is done when it is canceled; default: half. */
  canceledAt: z.number().min(0).max(1).optional(),
  /** Creates that many batches without a response: the connection is closed. */
  loseAnswers: z.int().nonnegative().optional(),
  /** Requests whose method and path contain this (`POST /v1/batches`) fail with `status`. */
  failing: z
    .strictObject({
      matching: z.string(),
      status: z.int(),
      times: z.int().positive().optional(),
      retryAfter: z.string().optional(),
    })
    .optional(),
  /** That many polls of a batch are never answered. */
  hangPolls: z.int().nonnegative().optional(),
  /** Rejects the key. */
  isRevoked: z.boolean().optional(),
  /** Results are sent in the opposite order, and each of them twice. */
  isShuffled: z.boolean().optional(),
  /** Results are sent in chunks of that many bytes. */
  pieceBytes: z.int().positive().optional(),
  /** That many downloads break off midway. */
  breakDownloads: z.int().nonnegative().optional(),
  /** That many results are missing even though the batch is complete. */
  missing: z.int().nonnegative().optional(),
  /** That many results are lines of invalid JSON. */
  garbled: z.int().nonnegative().optional(),
});
export type BatchBehaviour = z.infer<typeof BatchBehaviour>;

/** A batch as shown to tests. */
export interface SeenBatch {
  id: string;
  /** Our id, if the provider stores one. */
  tag: string | null;
  status: BatchStatus;
  items: number;
  succeeded: number;
  failed: number;
}

type BatchStatus = 'in_progress' | 'ending' | 'canceling' | 'completed' | 'expired' | 'canceled' | 'rejected';

/** A batch in the store. */
export interface StoredBatch extends SeenBatch {
  nth: number;
  model: string;
  /** Milliseconds since the epoch. */
  createdAt: number;
  endedAt: number | null;
  inputFile: string;
  error: { code: string; message: string } | null;
  /** Additional data of its protocol. */
  extra: Record<string, unknown>;
  /** Results and errors, if the provider separates them. */
  outputFile: string | null;
  errorFile: string | null;
}

export interface StoredFile {
  id: string;
  name: string;
  bytes: number;
  path: string;
  createdAt: number;
}

/** A line of a batch's file. */
export interface BatchItem {
  customId: string;
  /** The body of a JSON request. */
  body: Record<string, unknown>;
}

/** The result of a line. */
export type ItemOutcome =
  | { kind: 'succeeded'; body: unknown }
  | { kind: 'failed'; status: number; body: unknown }
  | { kind: 'expired' }
  | { kind: 'canceled' };

/** The specifics of a provider's batches. */
export interface BatchProtocol {
  /** Parses a line. @throws Error if it is invalid: the batch is rejected */
  itemOf(line: string): BatchItem;
  /** The line of a result, and whether it goes to the file of errors. Undefined: there is none for it. */
  resultOf(item: BatchItem, outcome: ItemOutcome, nth: number): { line: unknown; isError: boolean } | undefined;
  hasErrorFile: boolean;
  /** The path of the interactive call to a model. */
  pathOf(model: string): string;
  idOf(nth: number): string;
  /** The prefix of its file ids. */
  filePrefix: string;
  /** Whether a path is about files or batches. */
  serves(path: string): boolean;
  /** Handles such a request; false if there is no such route. */
  handle(request: BatchRequest): Promise<boolean>;
}

export interface BatchRequest {
  req: IncomingMessage;
  res: ServerResponse;
  method: string;
  path: string;
  query: URLSearchParams;
  store: BatchStore;
}

/** The batches and files of a stand-in. Files are on disk, so that large ones use no memory. */
export class BatchStore {
  readonly files = new Map<string, StoredFile>();
  readonly batches = new Map<string, StoredBatch>();
  /** Incomplete uploads, by id. */
  readonly uploads = new Map<string, StoredFile>();
  readonly protocol: BatchProtocol | undefined;
  behaviour: BatchBehaviour = {};
  #dir: string | undefined;
  #nextFile = 1;
  #nextBatch = 1;
  readonly #wire: Protocol;
  readonly #answer: (path: string, body: Record<string, unknown>) => unknown;
  readonly #timers = new Set<NodeJS.Timeout>();
  readonly #endings = new Set<Promise<void>>();

  /** @param answer the model's response to a request */
  constructor(
    wire: Protocol,
    protocol: BatchProtocol | undefined,
    answer: (path: string, body: Record<string, unknown>) => unknown,
  ) {
    this.#wire = wire;
    this.protocol = protocol;
    this.#answer = answer;
  }

  /** Replaces the behaviour so far; without an argument nothing goes wrong. */
  behave(behaviour: BatchBehaviour = {}): void {
    this.behaviour = behaviour;
  }

  /** Handles requests about files and batches; false for others. */
  async handle(req: IncomingMessage, res: ServerResponse, path: string, query: string): Promise<boolean> {
    const method = req.method ?? 'GET';
    if (this.protocol?.serves(path) !== true) return false;
    const failure = this.failureOf(method, path);
    if (failure === undefined) {
      return this.protocol.handle({ req, res, method, path, query: new URLSearchParams(query), store: this });
    }
    req.resume();
    const { status, retryAfter } = failure;
    sendJson(
      res,
      status,
      this.#wire.error(status, 'told to fail'),
      retryAfter === undefined ? {} : { 'retry-after': retryAfter },
    );
    return true;
  }

  /** Ends all batches in progress. */
  async endAll(how: 'completed' | 'expired' = 'completed', share = 1): Promise<void> {
    for (const { id } of this.batches.values()) await this.end(id, how, share);
  }

  get #own(): BatchProtocol {
    if (this.protocol === undefined) throw new Error(`${this.#wire.name} has no batches here.`);
    return this.protocol;
  }

  /** Consumes one use of a counted behavior. */
  take(what: 'queueFull' | 'loseAnswers' | 'hangPolls' | 'breakDownloads'): boolean {
    const left = this.behaviour[what] ?? 0;
    if (left > 0) this.behaviour = { ...this.behaviour, [what]: left - 1 };
    return left > 0;
  }

  /** The status that a request is to fail with, if any. */
  failureOf(method: string, path: string): { status: number; retryAfter: string | undefined } | undefined {
    const { failing, isRevoked } = this.behaviour;
    if (isRevoked === true) return { status: 401, retryAfter: undefined };
    if (failing === undefined || !`${method} ${path}`.includes(failing.matching)) return undefined;
    if (failing.times === 1) this.behaviour = { ...this.behaviour, failing: undefined };
    else if (failing.times !== undefined)
      this.behaviour = { ...this.behaviour, failing: { ...failing, times: failing.times - 1 } };
    return { status: failing.status, retryAfter: failing.retryAfter };
  }

  /** A new file, to be written at its path. */
  newFile(name: string): StoredFile {
    this.#dir ??= mkdtempSync(join(tmpdir(), 'stand-in-'));
    const id = `${this.#own.filePrefix}${this.#nextFile++}`;
    return { id, name, bytes: 0, path: join(this.#dir, `${this.#nextFile}`), createdAt: Date.now() };
  }

  keep(file: StoredFile): StoredFile {
    file.bytes = statSync(file.path).size;
    this.files.set(file.id, file);
    return file;
  }

  delete(id: string): boolean {
    const file = this.files.get(id);
    if (file !== undefined) rmSync(file.path, { force: true });
    return this.files.delete(id);
  }

  /** Removes a batch with its files. */
  forget(batch: StoredBatch): void {
    for (const file of [batch.inputFile, batch.outputFile, batch.errorFile]) this.delete(file ?? '');
    this.batches.delete(batch.id);
  }

  /** Removes all batches and files. */
  forgetAll(): void {
    for (const batch of this.batches.values()) this.forget(batch);
    for (const id of this.files.keys()) this.delete(id);
  }

  /** Creates a batch of a file's lines. */
  async create(
    input: StoredFile,
    given: {
      tag: string | null;
      model: string;
      extra?: Record<string, unknown>;
      /** Why it is rejected, whatever its content. */
      rejection?: StoredBatch['error'] | undefined;
    },
  ): Promise<StoredBatch> {
    const { tag, model, extra = {}, rejection } = given;
    const nth = this.#nextBatch++;
    const batch: StoredBatch = {
      id: this.#own.idOf(nth),
      nth,
      tag,
      model,
      status: 'in_progress',
      items: 0,
      succeeded: 0,
      failed: 0,
      createdAt: Date.now(),
      endedAt: null,
      inputFile: input.id,
      error: rejection ?? this.behaviour.reject ?? null,
      extra,
      outputFile: null,
      errorFile: null,
    };
    this.batches.set(batch.id, batch);
    for await (const line of linesIn(input.path)) {
      batch.items += 1;
      try {
        this.#own.itemOf(line);
      } catch (error) {
        batch.error ??= { code: 'invalid_json_line', message: `line ${batch.items}: ${String(error)}` };
      }
    }
    if (batch.error !== null) {
      batch.status = 'rejected';
      batch.endedAt = Date.now();
      return batch;
    }
    const { completeMs = 0, expireAt } = this.behaviour;
    if (completeMs !== null) {
      const timer = setTimeout(() => {
        this.#timers.delete(timer);
        void this.end(batch.id, expireAt === undefined ? 'completed' : 'expired', expireAt);
      }, completeMs);
      this.#timers.add(timer);
    }
    return batch;
  }

  /** Cancels it; an ended one is unchanged. */
  cancel(batch: StoredBatch): boolean {
    if (batch.status !== 'in_progress') return false;
    batch.status = 'canceling';
    void this.end(batch.id, 'canceled', this.behaviour.canceledAt ?? 0.5);
    return true;
  }

  /** Ends a batch with a share of it done. */
  end(id: string, how: 'completed' | 'expired' | 'canceled', share = 1): Promise<void> {
    const ending = this.#end(id, how, share).finally(() => this.#endings.delete(ending));
    this.#endings.add(ending);
    return ending;
  }

  async #end(id: string, how: 'completed' | 'expired' | 'canceled', share: number): Promise<void> {
    const batch = this.batches.get(id);
    const input = this.files.get(batch?.inputFile ?? '');
    if (batch === undefined || input === undefined) return;
    if (batch.status !== 'in_progress' && !(how === 'canceled' && batch.status === 'canceling')) return;
    if (batch.status === 'in_progress') batch.status = 'ending';
    const { missing = 0, garbled = 0, failEvery } = this.behaviour;
    const done = Math.floor(batch.items * share);
    const [output, errors] = [this.newFile(`${id}_output.jsonl`), this.newFile(`${id}_error.jsonl`)];
    const [outputStream, errorStream] = [createWriteStream(output.path), createWriteStream(errors.path)];
    let nth = 0;
    let hasErrors = false;
    for await (const line of linesIn(input.path)) {
      nth += 1;
      const item = this.#own.itemOf(line);
      const outcome: ItemOutcome =
        nth > done
          ? { kind: how === 'canceled' ? 'canceled' : 'expired' }
          : failEvery !== undefined && nth % failEvery === 0
            ? { kind: 'failed', status: 500, body: this.#wire.error(500, 'told to fail') }
            : this.#outcomeOf(this.#own.pathOf(batch.model), item.body);
      if (outcome.kind === 'succeeded') batch.succeeded += 1;
      else if (nth <= done) batch.failed += 1;
      const result = nth <= missing ? undefined : this.#own.resultOf(item, outcome, nth);
      if (result === undefined) continue;
      const isError = result.isError && this.#own.hasErrorFile;
      if (isError) hasErrors = true;
      const stream = isError ? errorStream : outputStream;
      const text = nth <= missing + garbled ? '{"custom_id": garbled' : JSON.stringify(result.line);
      await drained(stream, `${text}\n`);
    }
    await Promise.all([ended(outputStream), ended(errorStream)]);
    batch.outputFile = this.keep(output).id;
    if (hasErrors) batch.errorFile = this.keep(errors).id;
    batch.endedAt = Date.now();
    batch.status = how;
  }

  #outcomeOf(path: string, body: Record<string, unknown>): ItemOutcome {
    try {
      return { kind: 'succeeded', body: this.#answer(path, body) };
    } catch (error) {
      return { kind: 'failed', status: 400, body: this.#wire.error(400, String(error)) };
    }
  }

  /** Sends a file of results, with the configured faults. */
  async sendFile(file: StoredFile, res: ServerResponse): Promise<void> {
    const { isShuffled, pieceBytes = 64 * 1024 } = this.behaviour;
    const isBroken = this.take('breakDownloads');
    const bytes = isShuffled === true ? file.bytes * 2 : file.bytes;
    res.writeHead(200, { 'content-type': 'application/octet-stream', 'content-length': bytes });
    const pieces =
      isShuffled === true ? twiceBackwards(file.path) : createReadStream(file.path, { highWaterMark: pieceBytes });
    let sent = 0;
    for await (const piece of pieces) {
      if (res.destroyed) return;
      const part =
        isBroken && sent + piece.length > bytes / 2 ? piece.subarray(0, Math.floor(bytes / 2) - sent) : piece;
      if (!res.write(part)) await untilDrained(res);
      sent += part.length;
      if (isBroken && part !== piece) {
        setTimeout(() => res.destroy(), 50);
        return;
      }
    }
    res.end();
  }

  /** The state for tests. */
  inspect(): { created: number; batches: SeenBatch[]; files: { id: string; name: string; bytes: number }[] } {
    return {
      created: this.#nextBatch - 1,
      batches: [...this.batches.values()].map(({ id, tag, status, items, succeeded, failed }) => ({
        id,
        tag,
        status,
        items,
        succeeded,
        failed,
      })),
      files: [...this.files.values()].map(({ id, name, bytes }) => ({ id, name, bytes })),
    };
  }

  async close(): Promise<void> {
    for (const timer of this.#timers) clearTimeout(timer);
    await Promise.allSettled(this.#endings);
    if (this.#dir !== undefined) rmSync(this.#dir, { recursive: true, force: true });
    this.#dir = undefined;
    this.files.clear();
    this.batches.clear();
  }
}

async function* linesIn(path: string): AsyncGenerator<string> {
  for await (const line of createInterface({ input: createReadStream(path), crlfDelay: Number.POSITIVE_INFINITY })) {
    if (line.trim() !== '') yield line;
  }
}

/** A file's lines in reverse order, each twice; only positions are kept in memory. */
async function* twiceBackwards(path: string): AsyncGenerator<Buffer> {
  const starts = [0];
  let at = 0;
  for await (const chunk of createReadStream(path) as AsyncIterable<Buffer>) {
    for (let end = chunk.indexOf(10); end !== -1; end = chunk.indexOf(10, end + 1)) starts.push(at + end + 1);
    at += chunk.length;
  }
  const file = await open(path);
  try {
    for (let index = starts.length - 2; index >= 0; index -= 1) {
      const [start = 0, end = 0] = [starts[index], starts[index + 1]];
      const line = Buffer.alloc(end - start);
      await file.read(line, 0, line.length, start);
      yield Buffer.concat([line, line]);
    }
  } finally {
    await file.close();
  }
}

/** Reads a small JSON body. */
export async function readJson(req: IncomingMessage): Promise<Record<string, unknown>> {
  const chunks: Buffer[] = [];
  for await (const chunk of req) chunks.push(chunk);
  return z.record(z.string(), z.unknown()).parse(JSON.parse(Buffer.concat(chunks).toString('utf8') || '{}'));
}

/**
 * Writes the file of a multipart body to a path as it arrives.
 * @returns the other fields, and the file's name
 */
export async function readMultipart(
  req: IncomingMessage,
  path: string,
): Promise<{ fields: Record<string, string>; fileName: string }> {
  const [, boundary = ''] = /boundary="?([^";]+)"?/.exec(req.headers['content-type'] ?? '') ?? [];
  const delimiter = Buffer.from(`\r\n--${boundary}`);
  const fields: Record<string, string> = {};
  let fileName = '';
  const out = createWriteStream(path);
  // So that the first delimiter is like the others.
  let held: Buffer = Buffer.from('\r\n');
  let part: { name: string; isFile: boolean; text: Buffer[] } | undefined;
  let isInHead = false;
  const give = async (data: Buffer) => {
    if (part === undefined || data.length === 0) return;
    if (!part.isFile) part.text.push(Buffer.from(data));
    else await drained(out, Buffer.from(data));
  };
  for await (const chunk of req as AsyncIterable<Buffer>) {
    held = Buffer.concat([held, chunk]);
    for (;;) {
      if (isInHead) {
        const end = held.indexOf('\r\n\r\n');
        if (end === -1) break;
        const head = held.subarray(0, end).toString('utf8');
        const [, name = ''] = /name="([^"]*)"/.exec(head) ?? [];
        const [, filename] = /filename="([^"]*)"/.exec(head) ?? [];
        part = { name, isFile: filename !== undefined, text: [] };
        if (filename !== undefined) fileName = filename;
        held = held.subarray(end + 4);
        isInHead = false;
      }
      const end = held.indexOf(delimiter);
      if (end === -1) {
        const safe = Math.max(0, held.length - delimiter.length);
        await give(held.subarray(0, safe));
        held = held.subarray(safe);
        break;
      }
      await give(held.subarray(0, end));
      if (part !== undefined && !part.isFile) fields[part.name] = Buffer.concat(part.text).toString('utf8');
      part = undefined;
      held = held.subarray(end + delimiter.length);
      isInHead = true;
    }
  }
  await ended(out);
  return { fields, fileName };
}

/** Writes, and waits until there is room for more. */
export async function drained(out: WriteStream, data: Buffer | string): Promise<void> {
  if (!out.write(data)) await new Promise<void>((resolve) => out.once('drain', resolve));
}

export function ended(out: WriteStream): Promise<void> {
  return new Promise((resolve) => out.end(resolve));
}
