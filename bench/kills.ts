import process from 'node:process';
import { setTimeout as delay } from 'node:timers/promises';
import { z } from 'zod';
import type { Means } from './means.ts';
import { type Outcome, row } from './report.ts';
import type { Servers } from './servers.ts';
import { type Part, startApi, startWorker } from './service.ts';
import { type StandInModel, startModel } from './stand-in.ts';

/** Long enough that calls are always in flight. */
const MODEL_MS = 1_000;
/** Time from the model's response until it is stored. */
const STORE_MS = 25;
const CALLERS = 20;
const WORKERS = 2;
const KILLS = 30;
/** A worker is killed after this many calls, or at the latest after this time. */
const CALLS_BEFORE = 20;
const AT_WORK_WITHIN_MS = 20_000;
/** Interrupted work runs again once its workflow task has timed out. */
const LONGEST_MS = 120_000;

const Completed = z.object({ status: z.literal('completed') });

async function untilAtWork(model: StandInModel): Promise<void> {
  const least = (await model.calls()).count + CALLS_BEFORE;
  const deadline = Date.now() + AT_WORK_WITHIN_MS;
  while ((await model.calls()).count < least && Date.now() < deadline) await delay(50);
}

/** A worker with its own model, so that the calls of each are known. */
interface Target {
  model: StandInModel;
  worker: Part;
}

/**
 * Kills worker processes one after the other while callers run prompts. Every execution must complete, and only calls in flight
 * in the killed process may be paid for twice.
 */
export async function measureKills(servers: Servers, { rounds: kills = KILLS }: Means): Promise<Outcome> {
  // The API only checks that credentials exist.
  const api = await startApi(servers, { OPENAI_API_KEY: 'x' });
  const targets: Target[] = [];
  for (let index = 0; index < WORKERS; index += 1) {
    const model = await startModel(MODEL_MS);
    targets.push({ model, worker: await startWorker(servers, model.settings) });
  }
  try {
    await api.call('POST', '/prompts', {
      name: 'bench',
      template: 'Greet {{ name }} in one sentence.',
      model: 'openai/gpt-4o-mini',
    });
    const latenciesMs: number[] = [];
    let isOver = false;

    async function caller(): Promise<void> {
      while (!isOver) {
        const begunAt = performance.now();
        const execution = await api.call('POST', '/executions', { prompt_name: 'bench', variables: { name: 'Ada' } });
        Completed.parse(execution);
        latenciesMs.push(performance.now() - begunAt);
      }
    }

    const inFlight: number[] = [];
    const startMs: number[] = [];

    /** Recent calls have no response, or their response is not stored yet. */
    async function kill(target: Target): Promise<void> {
      const before = (await target.model.calls()).count;
      await delay(MODEL_MS + STORE_MS);
      const { count } = await target.model.calls();
      process.kill(target.worker.pid, 'SIGKILL');
      inFlight.push(count - before);
      const killedAt = performance.now();
      await target.worker.stop();
      target.worker = await startWorker(servers, target.model.settings);
      startMs.push(performance.now() - killedAt);
    }

    async function killAll(): Promise<void> {
      for (let index = 0; index < kills; index += 1) {
        const target = targets[index % WORKERS];
        if (target === undefined) continue;
        await untilAtWork(target.model);
        await kill(target);
      }
      isOver = true;
    }

    await Promise.all([killAll(), ...Array.from({ length: CALLERS }, caller)]);
    const counts = await Promise.all(targets.map(({ model }) => model.calls()));
    const paid = counts.reduce((sum, { count }) => sum + count, 0);
    const completed = latenciesMs.length;
    const inFlightInAll = inFlight.reduce((sum, count) => sum + count, 0);
    return {
      benchmark: `kills (${kills} SIGKILLs of a worker, ${CALLERS} callers, ${WORKERS} workers, a model of ${MODEL_MS} ms)`,
      rows: [
        row('executions completed', '', [completed]),
        row('calls paid', '', [paid]),
        row('calls in flight in the killed worker', '', inFlight),
        row('calls paid beyond the executions', '', [paid - completed], { atMost: inFlightInAll }),
        row('longest execution', 'ms', [Math.max(...latenciesMs)], { below: LONGEST_MS }),
        row('from the kill to a new worker at work', 'ms', startMs),
      ],
    };
  } finally {
    await api.stop();
    for (const { worker, model } of targets) {
      await worker.stop();
      await model.stop();
    }
  }
}
