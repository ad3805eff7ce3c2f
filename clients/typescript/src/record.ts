import { toRequest } from './call.ts';
import { PmsError } from './errors.ts';
import type { RecordedRun as Recorded } from './generated/types.gen.ts';
import { RETRY_FOR_MS, type Transport } from './transport.ts';

type Time = Date | string;

/** A run that the application made itself. */
export interface Run extends Omit<Recorded, 'started_at' | 'finished_at'> {
  started_at: Time;
  finished_at: Time;
}

export interface RecordOptions {
  /** Maximum number of runs that are waiting or being sent. Default: 10,000 */
  maxRuns?: number;
  /** The same limit in bytes of JSON. Default: 16 MiB */
  maxBytes?: number;
  /** How long a run waits to be batched with others, in milliseconds. Default: 1,000 */
  flushAfterMs?: number;
  /** Receives runs that are not recorded, and why: `code` is `queue_full`, `invalid_run`, or the code of the last response. */
  onDrop?: (runs: Run[], error: PmsError) => void;
}

interface Waiting {
  run: Run;
  json: string;
  bytes: number;
  at: number;
}

const BATCH_RUNS = 500;
const BATCH_BYTES = 1024 * 1024;

/** An execution id with a time prefix (UUID version 7): a repeated run is stored once. */
function newId(time: Time): string {
  const ms = new Date(time).getTime() || Date.now();
  const hex = (bits: number) =>
    Math.floor(Math.random() * 2 ** bits)
      .toString(16)
      .padStart(bits / 4, '0');
  const at = ms.toString(16).padStart(12, '0');
  return `exec_${at.slice(0, 8)}-${at.slice(8)}-7${hex(12)}-8${hex(12)}-${hex(48)}`;
}

/** Sends runs in batches in the background. */
export class Recorder {
  readonly #transport: Transport;
  readonly #options: RecordOptions;
  #waiting: Waiting[] = [];
  #runs = 0;
  #bytes = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #sending: Promise<void> | undefined;

  readonly #retryForMs: number;

  constructor(transport: Transport, options: RecordOptions, retryForMs = RETRY_FOR_MS) {
    this.#transport = transport;
    this.#options = options;
    this.#retryForMs = retryForMs;
  }

  record(given: Run): string {
    const { maxRuns = 10_000, maxBytes = 16 * BATCH_BYTES, flushAfterMs = 1_000 } = this.#options;
    const run = { ...given, id: given.id ?? newId(given.started_at) };
    try {
      // A fallback has no version of the service.
      const json = JSON.stringify({ ...run, prompt_version: run.prompt_version || undefined });
      const bytes = new TextEncoder().encode(json).length;
      if (this.#runs >= maxRuns || this.#bytes + bytes > maxBytes)
        throw new PmsError('queue_full', 'Too many runs are waiting to be recorded.');
      this.#waiting.push({ run, json, bytes, at: Date.now() });
      this.#runs += 1;
      this.#bytes += bytes;
    } catch (error) {
      this.#drop([run], error instanceof PmsError ? error : new PmsError('invalid_run', String(error)));
    }
    if (this.#waiting.length >= BATCH_RUNS || this.#bytes >= BATCH_BYTES) void this.flush();
    else if (this.#waiting.length > 0) this.#timer ??= setTimeout(() => this.flush(), flushAfterMs);
    return run.id;
  }

  flush(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#waiting.length > 0) this.#sending ??= this.#sendAll();
    return this.#sending ?? Promise.resolve();
  }

  async #sendAll(): Promise<void> {
    while (this.#waiting.length > 0) {
      let bytes = 0;
      const end = this.#waiting.findIndex((each, index) => {
        bytes += each.bytes;
        return index === BATCH_RUNS || (index > 0 && bytes > BATCH_BYTES);
      });
      const batch = this.#waiting.splice(0, end === -1 ? BATCH_RUNS : end);
      await this.#send(batch);
      this.#runs -= batch.length;
      for (const each of batch) this.#bytes -= each.bytes;
    }
    this.#sending = undefined;
  }

  /** If runs of a batch are invalid, the others are sent again. */
  async #send(batch: Waiting[]): Promise<void> {
    const body = `{"records":[${batch.map(({ json }) => json).join()}]}`;
    // The ids of the runs make the request idempotent.
    const headers = { 'Content-Type': 'application/json', 'Idempotency-Key': undefined };
    // Batches that waited through an outage are tried only once: otherwise each would wait as long again.
    const isOld = Date.now() - (batch.at(-1)?.at ?? 0) > this.#retryForMs;
    const options = { headers, maxRetries: isOld ? 0 : undefined };
    try {
      await this.#transport(toRequest('recordExecutions', { body }, options), (response) => response.text());
    } catch (caught) {
      const error = caught instanceof PmsError ? caught : new PmsError('invalid_run', String(caught));
      const isAtFault = (index: number) => error.details.some(({ path }) => `${path}.`.startsWith(`records.${index}.`));
      const wrong = batch.filter((_, index) => isAtFault(index));
      const half = Math.ceil(batch.length / 2);
      if (wrong.length > 0) {
        this.#drop(
          wrong.map(({ run }) => run),
          error,
        );
        if (wrong.length < batch.length) await this.#send(batch.filter((each) => !wrong.includes(each)));
      } else if (half < batch.length && (error.status === 400 || error.status === 413)) {
        await this.#send(batch.slice(0, half));
        await this.#send(batch.slice(half));
      } else
        this.#drop(
          batch.map(({ run }) => run),
          error,
        );
    }
  }

  #drop(runs: Run[], error: PmsError): void {
    try {
      this.#options.onDrop?.(runs, error);
    } catch {
      // An error in the application's callback must not affect the next run.
    }
  }
}
