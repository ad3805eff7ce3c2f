import type { ApiPromise, CallOptions, RequestOf, ResponseOf } from '../call.ts';
import { InvalidRequestError } from '../errors.ts';
import type { Operations } from '../generated/operations.gen.ts';
import type {
  CodeResult,
  CreateCodeEvaluation,
  Evaluation,
  EvaluationComparison,
  OpenExample,
} from '../generated/types.gen.ts';
import { List } from '../pages.ts';
import { namedScorers, outputText, type ScoreSpec, scoreOutput } from './scores.ts';
import { workInBatches } from './work-in-batches.ts';

type Call = <Id extends keyof Operations>(
  operation: Id,
  request: RequestOf<Id>,
  options?: CallOptions,
) => ApiPromise<ResponseOf<Id>>;

type Examples = NonNullable<CreateCodeEvaluation['examples']>;

export interface EvaluateOptions<Output> {
  /** The name of the evaluated code, such as `support/agent`: runs with the same name are compared. */
  name: string;
  /** A dataset by name, or by name and version; or up to 1,000 examples. */
  data: string | { name: string; version?: number } | Examples;
  /** The function to evaluate. If it throws, the example has failed. @param input the variables of the example */
  task: (
    input: OpenExample['variables'],
    context: { example: OpenExample; signal: AbortSignal },
  ) => Output | Promise<Output>;
  /** The scores of each output. The score of an example is their weighted mean. */
  scores: ScoreSpec<Output>[];
  /** The minimum score for the run to pass. Default: 0.8 */
  threshold?: number;
  /**
   * `previous`, the id of an evaluation, or null for none. Default: `previous`, the newest completed run with this name and the same
   * examples
   */
  baseline?: string | null;
  metadata?: Record<string, string>;
  /** The number of examples run at a time. Default: 10 */
  concurrency?: number;
  /** Time limit per example, in milliseconds: then `signal` is aborted, and the example has failed. Default: no limit */
  timeoutMs?: number;
  /**
   * Continues a run instead of starting one. `true`: the newest running one with this name, the same examples and the same scores, if
   * any. An id: that run, whose failures are repeated. Default: false
   */
  resume?: boolean | string;
  /** Stops this program's work. The run can be resumed. */
  signal?: AbortSignal;
  /** Called for each stored result. */
  onResult?: (result: CodeResult, example: OpenExample) => void;
}

export interface EvaluateResult {
  evaluation: Evaluation;
  /** Whether the score reaches the threshold. */
  passed: boolean;
  /** The comparison with the baseline; null if there is none. */
  comparison: EvaluationComparison | null;
  /** The verdict of the comparison: `improvement`, `regression`, `within_noise` and others; null if there is none. */
  verdict: EvaluationComparison['verdict'] | null;
}

const BATCH_RESULTS = 100;
const BATCH_CHARACTERS = 300_000;

/** The message of a failure. The service accepts neither NUL nor lone surrogates. */
const messageOf = (error: unknown) =>
  (error instanceof Error ? `${error.name}: ${error.message}` : String(error))
    .slice(0, 2_000)
    .replaceAll('\0', '\uFFFD')
    .replace(/\p{Surrogate}/gu, '\uFFFD');

/** `Pms.evaluate`. */
export async function evaluate<Output>(call: Call, options: EvaluateOptions<Output>): Promise<EvaluateResult> {
  const { concurrency = 10, signal, onResult } = options;
  const scorers = namedScorers(options.scores);
  let run = await begin(call, options, scorers);
  const path = { id: run.id };
  if (run.status === 'running') {
    const open = new List<OpenExample>((cursor) =>
      call('listOpenExamples', { path, query: { limit: 100, ...(cursor !== undefined && { cursor }) } }, { signal }),
    );
    const stop = new AbortController();
    const work = (example: OpenExample) => runExample(options, scorers, example, stop.signal);
    const abort = () => stop.abort(signal?.reason);
    // Completed work is kept even when stopping.
    const isStopped = () => signal?.aborted === true;
    signal?.addEventListener('abort', abort, { once: true });
    try {
      for await (const done of workInBatches(open, concurrency, work)) {
        const results = done.map(({ result }) => result);
        for (const batch of batchesOf(results)) await send(call, run.id, batch, isStopped);
        for (const { result, example } of done) onResult?.(result, example);
      }
    } finally {
      signal?.removeEventListener('abort', abort);
      stop.abort();
    }
    run = await call('finishEvaluation', { path }, { signal });
  }
  const comparison =
    run.baseline_id === null
      ? null
      : await call('compareEvaluations', { path: { id: run.id, other: run.baseline_id } }, { signal });
  return { evaluation: run, passed: run.passed === true, comparison, verdict: comparison?.verdict ?? null };
}

async function begin<Output>(
  call: Call,
  { name, data, threshold, baseline, metadata, resume = false, signal }: EvaluateOptions<Output>,
  scorers: readonly { name: string; weight: number }[],
): Promise<Evaluation> {
  if (typeof resume === 'string') return goOn(call, resume, scorers, signal);
  const body = {
    name,
    ...(Array.isArray(data) ? { examples: data } : { dataset: data }),
    scores: scorers.map(({ name: score, weight }) => ({ name: score, weight })),
    ...(threshold !== undefined && { threshold }),
    ...(baseline !== undefined && { baseline }),
    ...(metadata !== undefined && { metadata }),
    resume,
  };
  return call('createCodeEvaluation', { body }, { signal });
}

async function goOn(
  call: Call,
  id: string,
  scorers: readonly { name: string }[],
  signal: AbortSignal | undefined,
): Promise<Evaluation> {
  const run = await call('getEvaluation', { path: { id } }, { signal });
  const [there, given] = [run.evaluators, scorers].map((list) =>
    list
      .map(({ name }) => name)
      .sort()
      .join(', '),
  );
  if (run.target.type !== 'code' || there !== given)
    throw new TypeError(`${id} can't be resumed: it has the scores ${there}, and not ${given}.`);
  if (run.status === 'running' || (run.status === 'completed' && run.examples_failed === 0)) return run;
  return call('retryEvaluation', { path: { id } }, { signal });
}

async function runExample<Output>(
  { task, timeoutMs }: EvaluateOptions<Output>,
  scorers: Parameters<typeof scoreOutput<Output>>[0],
  example: OpenExample,
  stop: AbortSignal,
): Promise<{ result: CodeResult; example: OpenExample }> {
  stop.throwIfAborted();
  const startedAt = performance.now();
  let result: CodeResult = { seq: example.seq };
  let code = 'task_failed';
  try {
    const output = await withLimit((signal) => task(example.variables, { example, signal }), timeoutMs, stop);
    result = { ...result, output: outputText(output), duration_ms: Math.round(performance.now() - startedAt) };
    code = 'scorer_failed';
    result = { ...result, scores: await scoreOutput(scorers, output, example) };
  } catch (error) {
    stop.throwIfAborted();
    result = { ...result, error: { code, message: messageOf(error) } };
  }
  return { result, example };
}

/** @throws the reason of the stop, even if the work continues after it; an Error on timeout */
function withLimit<Result>(
  work: (signal: AbortSignal) => Result | Promise<Result>,
  timeoutMs: number | undefined,
  stop: AbortSignal,
): Promise<Result> {
  const own = new AbortController();
  return new Promise<Result>((resolve, reject) => {
    const end = (reason: unknown) => {
      own.abort(reason);
      reject(reason);
    };
    const onStop = () => end(stop.reason);
    stop.addEventListener('abort', onStop, { once: true });
    const timer =
      timeoutMs === undefined
        ? undefined
        : setTimeout(() => end(new Error(`it took more than ${timeoutMs} ms`)), timeoutMs);
    Promise.resolve()
      .then(() => work(own.signal))
      .then(resolve, reject)
      .finally(() => {
        clearTimeout(timer);
        stop.removeEventListener('abort', onStop);
      });
  });
}

function batchesOf(results: readonly CodeResult[]): CodeResult[][] {
  const batches: CodeResult[][] = [];
  let characters = Number.POSITIVE_INFINITY;
  for (const result of results) {
    const own = JSON.stringify(result).length;
    const last = batches.at(-1);
    if (last === undefined || last.length >= BATCH_RESULTS || characters + own > BATCH_CHARACTERS) {
      batches.push([result]);
      characters = own;
    } else {
      last.push(result);
      characters += own;
    }
  }
  return batches;
}

/** If a batch is rejected, its results are sent one by one: a result that can't be stored has failed. */
async function send(call: Call, id: string, results: CodeResult[], isStopped: () => boolean): Promise<void> {
  try {
    await call('storeEvaluationResults', { path: { id }, body: { results } }, isStopped() ? { retryForMs: 0 } : {});
  } catch (error) {
    if (!(error instanceof InvalidRequestError)) throw error;
    const [only] = results;
    if (results.length > 1) for (const result of results) await send(call, id, [result], isStopped);
    else if (only === undefined || only.error?.code === 'result_refused') throw error;
    else
      await send(
        call,
        id,
        [{ seq: only.seq, error: { code: 'result_refused', message: messageOf(error) } }],
        isStopped,
      );
  }
}
