import { randomBytes } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { Pms } from '../../clients/typescript/src/index.ts';
import { callsOf, isAlive, KEY } from './fault-stage.ts';
import { type Before, type NetworkStage, PROMPT } from './network-stage.ts';
import { until } from './wait-for.ts';

/** The interval at which work starts, regardless of earlier work. */
const EXECUTION_EVERY_MS = 300;
const STREAM_EVERY_MS = 1_000;
/** For the evaluation in flight when the fault starts. */
const EXAMPLES = 100;
const CONCURRENCY = 4;
/** For an execution that starts when the fault ends. */
const EXAMPLES_AFTERWARDS = 4;
/** From the beginning of the load to the fault. */
const BEFORE_MS = 2_000;
/** How long the load continues after the fault, unless the fault sets it. */
const AFTER_MS = 11_000;
/** Anything slower is not back to normal. */
const NORMAL_MS = 3_000;
/** Timeout for started work. */
const PATIENCE_MS = 90_000;

export interface Fault {
  begin(): Promise<void>;
  end(): Promise<void>;
  /** How long it lasts. */
  ms: number;
  /** How long work continues to start after it. */
  afterMs?: number;
  /** Maximum recovery time after its end; default: 10 s. */
  recoveryMs?: number;
}

/** One piece of work of a caller. */
interface Work {
  kind: 'execution' | 'stream';
  text: string;
  /** Milliseconds since 1970. */
  begunAt: number;
  endedAt?: number;
  executionId?: string;
  error?: string;
}

export interface CellOutcome {
  /** Executions and streams, before, during and after the fault. */
  begun: number;
  /** Streams that completed with the whole response during the fault. */
  endedMeanwhile: number;
  /** Accepted work, examples and events that did not reach their end, in words. */
  lost: string[];
  /** Calls of the model beyond one for each execution and example. */
  paidTwice: number;
  /** Events that were delivered, and answered with a 200, more than once. */
  deliveredTwice: number;
  /** Model calls and deliveries in flight at any time during the fault, which can be repeated. */
  inFlight: { calls: number; deliveries: number };
  /** From the fault's end to the first success of work that started after it, in milliseconds. */
  firstMs: { execution: number; stream: number; evaluation: number; delivery: number };
  /** From the fault's end until all new work takes less than 3 s again. */
  normalMs: number;
  /** Processes that are gone. */
  dead: string[];
}

const expectedOf = (text: string) => `Answer to: Say ${text}`;

/** Runs work through a network with a fault, and counts the results. Callers are clients of this project with their usual retries. */
export async function runCell<Proxy extends Before>(stage: NetworkStage<Proxy>, fault: Fault): Promise<CellOutcome> {
  const { model, receiver, origin } = stage;
  const cell = randomBytes(4).toString('hex');
  const pms = new Pms({ baseUrl: origin, apiKey: KEY, retryForMs: PATIENCE_MS });
  const works: Work[] = [];
  const open = new Set<Promise<void>>();
  receiver.received.length = 0;

  async function execute(work: Work): Promise<void> {
    const { id, status, output } = await pms.execute({ prompt_name: PROMPT, variables: { text: work.text } });
    work.executionId = id;
    if (status !== 'completed' || output !== expectedOf(work.text)) throw new Error(`ended as ${status}: ${output}`);
  }

  async function stream(work: Work): Promise<void> {
    let text = '';
    for await (const event of pms.stream({ prompt_name: PROMPT, variables: { text: work.text } })) {
      if (event.type === 'output_text.delta') text += event.delta;
      if (event.type === 'execution.restarted') text = '';
      if (event.type === 'execution.started') work.executionId = event.execution.id;
      if (event.type === 'execution.failed') throw new Error(`failed: ${JSON.stringify(event.execution.error)}`);
    }
    if (text !== expectedOf(work.text)) throw new Error(`streamed "${text}"`);
  }

  function begin(kind: Work['kind']): void {
    const work: Work = { kind, text: `${cell} ${kind} ${works.length}.`, begunAt: Date.now() };
    works.push(work);
    const run = (kind === 'execution' ? execute(work) : stream(work))
      .catch((error: unknown) => {
        work.error = String(error);
      })
      .then(() => {
        work.endedAt = Date.now();
      });
    open.add(run);
    void run.then(() => open.delete(run));
  }

  const examples = Array.from({ length: EXAMPLES }, (_, index) => `${cell} example ${index}.`);
  const examplesAfterwards = Array.from({ length: EXAMPLES_AFTERWARDS }, (_, index) => `${cell} afterwards ${index}.`);
  const startedEvaluation = await startEvaluation(stage, `${cell}-in-flight`, examples);
  await upload(stage, `${cell}-afterwards`, examplesAfterwards);
  const timers = [
    setInterval(() => begin('execution'), EXECUTION_EVERY_MS),
    setInterval(() => begin('stream'), STREAM_EVERY_MS),
  ];
  try {
    await delay(BEFORE_MS);
    const callsBefore = await model.calls();
    const openBefore = open.size + CONCURRENCY;
    const faultAt = Date.now();
    await fault.begin();
    await delay(fault.ms);
    const callsMeanwhile = (await model.calls()) - callsBefore;
    const answeredMeanwhile = receiver.received.filter(({ at }) => at >= faultAt - 500).length;
    const endedMeanwhile = works.filter(({ endedAt = 0, error }) => endedAt >= faultAt && error === undefined).length;
    await fault.end();
    const endedAt = Date.now();
    const since = (at: number) => at - endedAt;

    const evaluationAfterwards = afterwards();
    async function afterwards(): Promise<number> {
      const request = { prompt_name: PROMPT, dataset: `${cell}-afterwards`, concurrency: CONCURRENCY, baseline: null };
      const { id } = await pms.call('createEvaluation', { body: request });
      await untilEvaluated(stage, id);
      return since(Date.now());
    }

    await delay(fault.afterMs ?? AFTER_MS);
    for (const timer of timers) clearInterval(timer);
    const evaluationMs = await evaluationAfterwards.catch(() => Number.POSITIVE_INFINITY);
    await Promise.race([Promise.all(open), delay(PATIENCE_MS, undefined, { ref: false })]);
    const lost = works.flatMap(({ kind, text, endedAt: at, error }) =>
      at === undefined ? [`${kind} "${text}": no end`] : error === undefined ? [] : [`${kind} "${text}": ${error}`],
    );
    lost.push(...(await lostExamples(stage, startedEvaluation, EXAMPLES)));

    // Each completed execution is reported.
    const ids = works.flatMap(({ executionId, error }) =>
      executionId === undefined || error !== undefined ? [] : [executionId],
    );
    const eventOf = ({ body }: { body: { data?: { execution_id?: string } } | undefined }) => body?.data?.execution_id;
    const untold = () => {
      const told = new Set(receiver.received.map(eventOf));
      return ids.filter((id) => !told.has(id));
    };
    await until('all events', async () => untold().length === 0, PATIENCE_MS).catch(() => {});
    lost.push(...untold().map((id) => `the event of ${id}`));
    const deliveries = receiver.received.map(({ headers }) => String(headers['x-delivery-id']));

    const after = works.filter(({ begunAt }) => begunAt >= endedAt);
    const firstOf = (kind: Work['kind']) =>
      Math.min(
        ...after.flatMap((work) =>
          work.kind === kind && work.error === undefined && work.endedAt !== undefined ? [since(work.endedAt)] : [],
        ),
      );
    const slow = after.filter(({ begunAt, endedAt: at = Number.POSITIVE_INFINITY }) => at - begunAt > NORMAL_MS);
    const prompts = [...works.map(({ text }) => text), ...examples, ...examplesAfterwards].map((text) => `Say ${text}`);
    const calls = await callsOf(model, prompts);
    const newIds = new Set(after.map(({ executionId }) => executionId));
    return {
      begun: works.length,
      endedMeanwhile,
      lost,
      paidTwice: calls.reduce((sum, count) => sum + Math.max(0, count - 1), 0),
      deliveredTwice: deliveries.length - new Set(deliveries).size,
      inFlight: { calls: openBefore + callsMeanwhile, deliveries: openBefore + answeredMeanwhile },
      firstMs: {
        execution: firstOf('execution'),
        stream: firstOf('stream'),
        evaluation: evaluationMs,
        delivery: Math.min(
          ...receiver.received.filter((request) => newIds.has(eventOf(request))).map(({ at }) => since(at)),
        ),
      },
      // The start of the last one that took longer than usual.
      normalMs: Math.max(0, ...slow.map(({ begunAt }) => since(begunAt) + EXECUTION_EVERY_MS)),
      dead: [stage.api, stage.worker].flatMap(({ pid }, index) =>
        isAlive(pid) ? [] : [index === 0 ? 'the API' : 'the worker'],
      ),
    };
  } finally {
    for (const timer of timers) clearInterval(timer);
  }

  async function startEvaluation({ call: send }: typeof stage, dataset: string, texts: string[]): Promise<string> {
    await upload(stage, dataset, texts);
    const body = { prompt_name: PROMPT, dataset, concurrency: CONCURRENCY, baseline: null };
    const { status, body: record } = await send('POST', '/evaluations', { body });
    if (status !== 201) throw new Error(`The evaluation was not started: ${JSON.stringify(record)}`);
    return record.id;
  }
}

async function upload({ call }: NetworkStage<Before>, dataset: string, texts: readonly string[]): Promise<void> {
  const raw = texts
    .map((text, index) => JSON.stringify({ id: `e-${index}`, variables: { text }, expected: expectedOf(text) }))
    .join('\n');
  const { status } = await call('PUT', `/datasets/${dataset}`, {
    raw,
    headers: { 'Content-Type': 'application/jsonl' },
  });
  if (status !== 200) throw new Error(`The dataset was not stored: ${status}`);
}

/** Its record once it has ended, through outages. */
async function untilEvaluated({ call }: NetworkStage<Before>, id: string) {
  return until(
    `the end of ${id}`,
    async () => {
      const { body } = await call('GET', `/evaluations/${id}`);
      return ['completed', 'failed', 'canceled'].includes(body.status) ? body : undefined;
    },
    PATIENCE_MS,
  );
}

async function lostExamples(stage: NetworkStage<Before>, id: string, examples: number): Promise<string[]> {
  try {
    const record = await untilEvaluated(stage, id);
    const isWhole = record.status === 'completed' && record.examples_evaluated === examples && record.score === 1;
    return isWhole ? [] : [`the evaluation: ${record.status}, ${record.examples_evaluated}, score ${record.score}`];
  } catch (error) {
    return [`the evaluation: ${String(error)}`];
  }
}

/** Maximum recovery time after a fault's end. */
const RECOVERY_MS = 10_000;

/** The violated guarantees of a cell; empty if all held. */
export function faultsOf(
  { lost, paidTwice, deliveredTwice, inFlight, firstMs, normalMs, dead }: CellOutcome,
  recoveryMs = RECOVERY_MS,
): string[] {
  const wrong = [...lost.map((what) => `lost: ${what}`), ...dead.map((what) => `${what} has ended`)];
  if (paidTwice > inFlight.calls) wrong.push(`${paidTwice} calls were repeated, ${inFlight.calls} were in flight`);
  if (deliveredTwice > inFlight.deliveries)
    wrong.push(`${deliveredTwice} deliveries were repeated, ${inFlight.deliveries} were in flight`);
  for (const [kind, ms] of Object.entries({ ...firstMs, 'normal work': normalMs }))
    if (!(ms <= recoveryMs)) wrong.push(`${kind}: after ${(ms / 1_000).toFixed(1)} s`);
  return wrong;
}
