import {
  type ApiPromise,
  answerOf,
  bodyOf,
  type CallOptions,
  call,
  type RequestOf,
  type ResponseOf,
  toRequest,
} from './call.ts';
import type { EvaluateOptions, EvaluateResult } from './evaluate/evaluate.ts';
import type { Operations } from './generated/operations.gen.ts';
import type { CreateExecution, Execution } from './generated/types.gen.ts';
import { ownMethods } from './own-methods.ts';
import { List, type Page } from './pages.ts';
import { randomKey } from './platform.ts';
import { type CacheOptions, Prompts } from './prompts/prompts.ts';
import { Recorder, type RecordOptions, type Run } from './record.ts';
import { type Resources, resourcesOf } from './resources.ts';
import type { StreamEvent, StreamOptions } from './stream.ts';
import { createTransport, sleep, type Transport, type TransportOptions } from './transport.ts';

export interface PmsOptions extends TransportOptions {
  cache?: CacheOptions;
  record?: RecordOptions;
}

/** Operations that return a list, and the type of its items. */
export type ListOperation = {
  [Id in keyof Operations]: ResponseOf<Id> extends { data: unknown[]; next_cursor: string | null } ? Id : never;
}[keyof Operations];
type ItemOf<Id extends ListOperation> = ResponseOf<Id> extends { data: (infer Item)[] } ? Item : never;

export interface ExecuteOptions extends CallOptions {
  /** How long to wait for the end, in milliseconds. Default: no limit */
  waitMs?: number;
}

/** The maximum wait per request of the service. */
const MAX_WAIT_SECONDS = 60;
const POLL_MS = 2_000;
const PROMPT_TIMEOUT_MS = 5_000;

const isOver = ({ status }: Execution) => status === 'completed' || status === 'failed' || status === 'canceled';

/** Declares the resources as properties, which are assigned later. */
const WithResources = class {} as new () => Resources;

/**
 * A client of one workspace. It holds no connection, and a timer only while runs are waiting to be recorded. Each operation of the
 * service is a method: `pms.prompts.create(…)`, `pms.evaluations.get(id)`.
 */
export class Pms extends WithResources {
  readonly #transport: Transport;
  readonly #recorder: Recorder;

  /**
   * @throws TypeError if neither the options nor the environment (`PMS_BASE_URL`, `PMS_API_KEY`) contain the service's address and the
   * key
   */
  constructor({ cache = {}, record = {}, ...options }: PmsOptions = {}) {
    super();
    const transport = createTransport(options);
    this.#transport = transport;
    this.#recorder = new Recorder(transport, record, options.retryForMs);
    const { timeoutMs = PROMPT_TIMEOUT_MS } = cache;
    const prompts = new Prompts(async (prompts, isPatient, onRetry) => {
      const limits = {
        timeoutMs: Math.min(timeoutMs, options.timeoutMs ?? timeoutMs),
        retryForMs: isPatient ? Math.min(timeoutMs, options.retryForMs ?? timeoutMs) : 0,
        onRetry,
      };
      const { data } = await this.call('resolvePrompts', { body: { prompts } }, limits);
      return data;
    }, cache);
    const resources = resourcesOf(
      (operation, request, given) => call(transport, operation, request as RequestOf<typeof operation>, given),
      ({ evaluations, releases }) => {
        const get = {
          evaluation: (id: string, given: CallOptions) => evaluations.get(id, given),
          release: (id: string, given: CallOptions) => releases.get(id, given),
        };
        return { prompts, ...ownMethods(transport, get, options.retryForMs) };
      },
    );
    Object.assign(this, resources);
  }

  /**
   * Calls any operation of the service: `pms.call('getEvaluation', { path: { id } })`. Temporary failures are retried, with an
   * `Idempotency-Key` if the operation accepts one.
   * @throws PmsError
   */
  call<Id extends keyof Operations>(
    operation: Id,
    request: RequestOf<Id>,
    options?: CallOptions,
  ): ApiPromise<ResponseOf<Id>> {
    return call(this.#transport, operation, request, options);
  }

  /** The response of an operation as a stream, for large downloads. @throws PmsError */
  async download<Id extends keyof Operations>(
    operation: Id,
    request: RequestOf<Id>,
    options?: CallOptions,
  ): Promise<ReadableStream<Uint8Array>> {
    const sent = { ...toRequest(operation, request, options), isStreamed: true };
    return this.#transport(sent, async ({ body }) => body ?? new Blob([]).stream());
  }

  /** Sends a body unchanged, such as the lines of a dataset. @param contentType of the body @throws PmsError */
  upload<Id extends keyof Operations>(
    operation: Id,
    request: Omit<RequestOf<Id>, 'body'> & { body: string | Blob | ReadableStream | Uint8Array<ArrayBuffer> },
    contentType: string,
    options: CallOptions = {},
  ): ApiPromise<ResponseOf<Id>> {
    const headers = { ...options.headers, 'Content-Type': contentType };
    return answerOf(this.#transport, () => toRequest(operation, request, { ...options, headers }), bodyOf<Id>);
  }

  /**
   * Requests a path known only at run time, or only to a newer service. If it may have reached the service, it is retried only
   * for GET or with an `idempotencyKey`.
   * @param path under `/v1`, with its query
   * @param body sent unchanged
   * @throws PmsError
   */
  request(
    method: string,
    path: string,
    { body, idempotencyKey, headers, ...options }: CallOptions & { body?: RequestInit['body'] } = {},
  ): Promise<Response> {
    const isRepeatable = method === 'GET' || idempotencyKey !== undefined;
    const all = { ...headers, 'Idempotency-Key': idempotencyKey };
    const about = { idempotencyKey, executionId: undefined };
    const request = { ...options, method, path, body, isRepeatable, isStreamed: true, headers: all, about };
    return this.#transport(request, async (response) => response);
  }

  /**
   * All entries of a list, page by page: `for await (const prompt of pms.list('listPrompts'))`. `limit` is the page size.
   * @throws PmsError
   */
  list<Id extends ListOperation>(
    operation: Id,
    request: Partial<RequestOf<Id>> = {},
    options?: CallOptions,
  ): AsyncGenerator<ItemOf<Id>, void, undefined> {
    const { query, ...others } = request as { query?: { cursor?: string } };
    const read = (cursor: string | undefined) => {
      const page = { ...others, query: { ...query, cursor } } as unknown as RequestOf<Id>;
      return this.call(operation, page, options) as unknown as ApiPromise<Page<ItemOf<Id>>>;
    };
    return new List(read, query?.cursor)[Symbol.asyncIterator]();
  }

  /**
   * Runs a prompt and waits for the end, through broken connections and a restart of the service (`retryForMs`). Its errors
   * have the `idempotencyKey`, and the `executionId` as soon as it is known.
   * @returns the record: `completed`, `failed` or `canceled`; or its current state after `waitMs`
   * @throws PmsError if the request is rejected, or the service can't be reached
   */
  async execute(
    body: CreateExecution,
    { waitMs = Number.POSITIVE_INFINITY, idempotencyKey = randomKey(), headers: own, ...options }: ExecuteOptions = {},
  ) {
    const until = Date.now() + waitMs;
    const wait = Math.max(0, Math.min(MAX_WAIT_SECONDS, Math.ceil(waitMs / 1000)));
    const headers = { Prefer: `wait=${wait}`, ...own };
    let execution = await this.call('createExecution', { body }, { ...options, idempotencyKey, headers });
    while (!isOver(execution) && Date.now() < until) {
      await sleep(Math.min(POLL_MS, until - Date.now()), options.signal);
      execution = await this.call('getExecution', { path: { id: execution.id } }, { ...options, idempotencyKey });
    }
    return execution;
  }

  /**
   * Runs a prompt and yields its events until the end. After a broken connection, the stream reconnects and resumes. Leaving
   * the loop cancels nothing.
   * @throws PmsError if the request is rejected, or the service can't be reached
   */
  stream(body: CreateExecution, options?: StreamOptions): AsyncGenerator<StreamEvent, void, undefined> {
    return this.executions.stream(body, options);
  }

  /** The same for an existing execution. @param id `exec_…` */
  streamOf(id: string, options?: StreamOptions): AsyncGenerator<StreamEvent, void, undefined> {
    return this.executions.streamOf(id, options);
  }

  /**
   * Records a run that the application made itself. It is sent in a later batch, and again through a restart of the service
   * (`retryForMs`). It never throws: `record.onDrop` receives runs that are not recorded.
   * @returns the id of the execution, if the run has no `id`
   */
  record(run: Run): string {
    return this.#recorder.record(run);
  }

  /**
   * Evaluates a function on examples, and stores the results as an evaluation of the service. After an interruption, `resume` continues
   * it.
   * @returns the completed run
   * @throws PmsError if the service rejects it or can't be reached; the signal's reason
   */
  async evaluate<Output>(options: EvaluateOptions<Output>): Promise<EvaluateResult> {
    // Loaded on demand: web pages do not need it.
    const { evaluate } = await import('./evaluate/evaluate.ts');
    return evaluate((...args) => this.call(...args), options);
  }

  /** Sends the waiting runs. @returns when each is recorded or dropped; await it before the program exits */
  flush(): Promise<void> {
    return this.#recorder.flush();
  }

  /** The same, after the last run. */
  close(): Promise<void> {
    return this.flush();
  }
}
