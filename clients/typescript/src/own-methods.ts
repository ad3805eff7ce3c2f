import { type ApiPromise, answerOf, bodyOf, type CallOptions, toRequest } from './call.ts';
import { WaitTimeoutError } from './errors.ts';
import type { CreateExecution, DatasetChange, Evaluation, Release } from './generated/types.gen.ts';
import { Scores } from './scores.ts';
import {
  type ChangesEvent,
  type EvaluationEvent,
  type ImprovementEvent,
  type StreamEvent,
  type StreamOptions,
  streamChanges,
  streamExecution,
  streamRun,
} from './stream.ts';
import { sleep, type Transport } from './transport.ts';

// Methods of resources in addition to those for operations.

export interface WaitOptions extends CallOptions {
  /** How long to wait, in milliseconds. Default: no limit */
  waitMs?: number | undefined;
  /** Poll interval in milliseconds. Default: 2,000 */
  intervalMs?: number | undefined;
}

export interface UploadOptions extends CallOptions {
  /** The format of a file or text; examples are sent as `jsonl`. Default: `jsonl` */
  format?: 'jsonl' | 'csv' | undefined;
  description?: string | undefined;
  /** Whether existing examples are kept; one with the same id is replaced. Default: `replace` */
  mode?: 'add' | 'replace' | undefined;
}

/** An example of a dataset. */
export interface NewExample {
  id?: string;
  variables?: Record<string, unknown>;
  expected?: unknown;
  metadata?: Record<string, unknown>;
}

/** A file, or examples. */
export type UploadedExamples = string | Blob | ReadableStream | Uint8Array<ArrayBuffer> | readonly NewExample[];

export interface OwnMethods {
  executions: {
    /** Runs a prompt and yields its events: `pms.stream`. @throws PmsError */
    stream(body: CreateExecution, options?: StreamOptions): AsyncGenerator<StreamEvent, void, undefined>;
    /** The same for an existing execution. @param id `exec_…` @throws PmsError */
    streamOf(id: string, options?: StreamOptions): AsyncGenerator<StreamEvent, void, undefined>;
  };
  evaluations: {
    /** Yields the progress of an evaluation until its end. @param id `eval_…` @throws PmsError */
    stream(id: string, options?: StreamOptions): AsyncGenerator<EvaluationEvent, void, undefined>;
    /** Waits until an evaluation ends, or pauses because it has reached its `max_cost`. @throws WaitTimeoutError @throws PmsError */
    wait(id: string, options?: WaitOptions): Promise<Evaluation>;
  };
  improvements: {
    /** Yields the progress of an improvement until its end. @param id `imp_…` @throws PmsError */
    stream(id: string, options?: StreamOptions): AsyncGenerator<ImprovementEvent, void, undefined>;
  };
  events: {
    /**
     * Yields the types of resources that change, at most once a second, without end. The first event names none, as does the first one
     * after an interruption: reload what you show. @throws PmsError
     */
    changes(options?: StreamOptions): AsyncGenerator<ChangesEvent, void, undefined>;
  };
  releases: {
    /** Waits until a release ends. @throws WaitTimeoutError @throws PmsError */
    wait(id: string, options?: WaitOptions): Promise<Release>;
  };
  datasets: {
    /** Creates the next version of a dataset. @throws PmsError */
    upload(name: string, examples: UploadedExamples, options?: UploadOptions): ApiPromise<DatasetChange>;
  };
  scores: Scores;
}

const ENDED = new Set(['completed', 'failed', 'canceled', 'paused']);
const RELEASED = new Set(['succeeded', 'rolled_back', 'rejected', 'failed', 'superseded', 'canceled']);

/** Polls until it has one of these states. */
async function waitFor<Record extends { status: string }>(
  look: (options: CallOptions) => Promise<Record>,
  ends: ReadonlySet<string>,
  { waitMs = Number.POSITIVE_INFINITY, intervalMs = 2_000, ...options }: WaitOptions = {},
): Promise<Record> {
  const until = Date.now() + waitMs;
  for (;;) {
    const record = await look(options);
    if (ends.has(record.status)) return record;
    if (Date.now() >= until) throw new WaitTimeoutError('wait_timeout', `It is still ${record.status}.`);
    await sleep(intervalMs, options.signal);
  }
}

/**
 * @param transport sends requests
 * @param get reads records
 * @param retryForMs of the client
 */
export function ownMethods(
  transport: Transport,
  get: {
    evaluation: (id: string, options: CallOptions) => Promise<Evaluation>;
    release: (id: string, options: CallOptions) => Promise<Release>;
  },
  retryForMs: number | undefined,
): OwnMethods {
  const withLimit = (options: StreamOptions | undefined) => ({ retryForMs, ...options });
  return {
    executions: {
      stream: (body, options) => streamExecution(transport, { body }, withLimit(options)),
      streamOf: (id, options) => streamExecution(transport, { id }, withLimit(options)),
    },
    evaluations: {
      stream: (id, options) => streamRun(transport, 'streamEvaluation', id, withLimit(options)),
      wait: (id, options) => waitFor((own) => get.evaluation(id, own), ENDED, options),
    },
    improvements: { stream: (id, options) => streamRun(transport, 'streamImprovement', id, withLimit(options)) },
    events: { changes: (options) => streamChanges(transport, withLimit(options)) },
    releases: { wait: (id, options) => waitFor((own) => get.release(id, own), RELEASED, options) },
    datasets: {
      upload(name, examples, { format = 'jsonl', description, mode, headers, ...options } = {}) {
        const body = Array.isArray(examples) ? examples.map((each) => `${JSON.stringify(each)}\n`).join('') : examples;
        const type = format === 'csv' ? 'text/csv' : 'application/x-ndjson';
        const sent = { ...options, headers: { ...headers, 'Content-Type': type } };
        const request = () => toRequest('uploadDataset', { path: { name }, query: { description, mode }, body }, sent);
        return answerOf(transport, request, bodyOf<'uploadDataset'>);
      },
    },
    scores: new Scores(transport),
  };
}
