import { MEMORY_SHARES } from '../domain/memory-shares.ts';
import { createByteBudget } from '../lib/byte-budget.ts';
import { createFairSemaphore, type FairSemaphore, type Release } from '../lib/fair-semaphore.ts';
import { bothSlots, createWaitingRoom, slotOf } from '../lib/waiting-room.ts';
import {
  type DeliveryIdentity,
  deliveryWorkflowId,
  evaluationWorkflowId,
  executionWorkflowId,
  scoringWorkflowId,
} from './names.ts';

/** So many workspaces can each have all the calls in flight that they may have, with room left for others. */
const BUSY_WORKSPACES = 10;
/** Batches of evaluations at a time. */
const BATCHES = { total: 320, perKey: 32 };
/** Batches of rules and backfills at a time: of their own, since a rule may be at work all day. */
const SCANS = BATCHES;
/** Attempts to deliver at a time. */
const ATTEMPTS = { total: 400, perKey: 100 };
/** Requests to callers' scorers at a time. */
const SCORINGS = { total: 400, perKey: 100 };
/** What was set aside begins one at a time: the next when the one before has ended, or has run for so long without harm. */
const HARMLESS_AFTER_MS = 10_000;
/** More of a workspace's deliveries are not started while so many of them wait: rows wait at no cost. */
const SATURATED = 100;
/** A worker's slots for steps that find none of those below, and are sent away after a moment. */
const SPARE_SLOTS = 200;

const ATTEMPTS_OF = 'attempts of ';

/** A slot, to be given back once, or after how long to ask again. */
export type Entered = { release: Release } | { comeBackInMs: number };

/**
 * Semaphores for what the workspaces have in flight in one worker process. A step of a workflow that finds no slot returns, so that
 * it takes no slot of the worker; its workflow gets a signal when its place is free. Workspaces are named by their public ids.
 */
export interface Slots {
  /** Calls of models. Executions acquire one by `enterCall`, before the examples of evaluations. */
  calls: FairSemaphore;
  /** Bytes that the loaded examples of evaluations hold. */
  examples: FairSemaphore;
  /**
   * Bytes that filled prompts, the requests made from them and their responses hold. They are taken after those of `examples`, and before
   * a place of `calls`: so nobody who waits for one of the three keeps what another one waits for.
   */
  inputs: FairSemaphore;
  /** @param inputBytes of its call, to be taken from `inputs` */
  enterCall(workspace: string, executionId: string, inputBytes: number): Promise<Entered>;
  /** Waits until an execution that is set aside may run. Whoever enters does so before it takes anything else. */
  enterSetAside(workspace: string, executionId: string): Promise<Entered>;
  /**
   * Waits until an example that is set aside may run.
   * @throws the reason of `signal`, which ends the wait
   */
  waitSetAside(workspace: string, signal: AbortSignal): Promise<Release>;
  /** Bytes that the bodies of deliveries hold; they are taken after the place of the attempt. */
  deliveries: FairSemaphore;
  /** @param batch `from`: number of its first example */
  enterBatch(workspace: string, batch: { evaluationId: string; round: number; from: number }): Promise<Entered>;
  /** A batch of a rule or a backfill. @param work `id`: UUID */
  enterScan(workspace: string, work: { kind: 'rule' | 'backfill'; id: string }): Promise<Entered>;
  /** @param host `host:port` that it is sent to */
  enterAttempt(workspace: string, delivery: DeliveryIdentity, host: string): Promise<Entered>;
  /**
   * Waits for a slot for an attempt that has no workflow.
   * @param endOfWait makes the signal that ends the wait, where there is one
   * @returns undefined if that signal ended it
   */
  waitForAttempt(workspace: string, host: string, endOfWait: () => AbortSignal): Promise<Release | undefined>;
  /**
   * Waits for a slot for a request to a scorer.
   * @param evaluationId whose example is scored: turns go round the runs of a workspace
   * @throws the reason of `signal`, which ends the wait
   */
  enterScoring(workspace: string, host: string, evaluationId: string, signal: AbortSignal): Promise<Release>;
  /** Workspaces whose deliveries wait for each other here, so that starting more of them is in vain. */
  saturated(): string[];
  /** How many activities the workers of each queue run at a time. */
  ofWorkers: { executions: number; evaluations: number; webhooks: number };
}

export interface SlotsOptions {
  /** `WORKSPACE_CONCURRENCY` */
  workspaceConcurrency: number;
  /** `WEBHOOK_HOST_CONCURRENCY` */
  hostConcurrency: number;
  /**
   * Tells a workflow that a slot is kept for a step of it.
   * @returns false where the workflow has ended
   */
  offer: (workflowId: string, step?: string) => Promise<boolean>;
}

function untilHarmless(release: Release): Release {
  const timer = setTimeout(release, HARMLESS_AFTER_MS).unref();
  return () => {
    clearTimeout(timer);
    release();
  };
}

export function createSlots({ workspaceConcurrency: perKey, hostConcurrency, offer }: SlotsOptions): Slots {
  const calls = createFairSemaphore({ total: perKey * BUSY_WORKSPACES, perKey });
  const examples = createByteBudget(MEMORY_SHARES.examples);
  const inputs = createByteBudget(MEMORY_SHARES.inputs);
  const deliveries = createByteBudget(MEMORY_SHARES.deliveries);
  const batches = createFairSemaphore(BATCHES);
  const scans = createFairSemaphore(SCANS);
  const attempts = createFairSemaphore(ATTEMPTS);
  const perHost = () => createFairSemaphore({ total: Number.POSITIVE_INFINITY, perKey: hostConcurrency });
  const hosts = perHost();
  // Of their own: evaluations and webhooks don't wait for each other.
  const scorings = createFairSemaphore(SCORINGS);
  const scorerHosts = perHost();
  const room = createWaitingRoom();
  // What was in flight when processes ended. Where another one ends, it was most likely ended by the one that had just begun.
  const setAside = createFairSemaphore({ total: 1 });

  // Workspaces that send to the same host don't wait for each other.
  const slotOfAttempt = (workspace: string, host: string) =>
    bothSlots(slotOf(hosts, `${workspace} ${host}`), slotOf(attempts, workspace, { group: host }));

  return {
    calls,
    examples,
    inputs,
    deliveries,
    enterCall(workspace, executionId, inputBytes) {
      const id = executionWorkflowId(executionId);
      const slot = bothSlots(
        slotOf(inputs, workspace, { urgent: true, amount: inputBytes }),
        slotOf(calls, workspace, { urgent: true }),
      );
      return room.enter({ id, line: `calls of ${workspace}`, slot, offer: () => offer(id) });
    },
    async enterSetAside(workspace, executionId) {
      const id = executionWorkflowId(executionId);
      const slot = slotOf(setAside, workspace);
      const line = `set aside of ${workspace}`;
      const entered = await room.enter({ id: `${id} set aside`, line, slot, offer: () => offer(id) });
      return 'release' in entered ? { release: untilHarmless(entered.release) } : entered;
    },
    async waitSetAside(workspace, signal) {
      return untilHarmless(await setAside.acquire(workspace, { signal }));
    },
    enterBatch(workspace, { evaluationId, round, from }) {
      const workflowId = evaluationWorkflowId(evaluationId, round);
      return room.enter({
        id: `${workflowId}/${from}`,
        line: `batches of ${workspace}`,
        slot: slotOf(batches, workspace, { group: evaluationId }),
        offer: () => offer(workflowId, String(from)),
      });
    },
    enterScan(workspace, { kind, id }) {
      const workflowId = scoringWorkflowId(kind, id);
      return room.enter({
        id: workflowId,
        line: `scans of ${workspace}`,
        slot: slotOf(scans, workspace, { group: id }),
        offer: () => offer(workflowId),
      });
    },
    enterAttempt(workspace, delivery, host) {
      const id = deliveryWorkflowId(delivery);
      return room.enter({
        id,
        line: `${ATTEMPTS_OF}${workspace}`,
        slot: slotOfAttempt(workspace, host),
        offer: () => offer(id),
      });
    },
    async waitForAttempt(workspace, host, endOfWait) {
      const slot = slotOfAttempt(workspace, host);
      const free = slot.tryAcquire();
      if (free !== undefined) return free;
      const signal = endOfWait();
      if (signal.aborted) return undefined;
      return slot.acquire(signal).catch((error: unknown) => {
        if (signal.aborted) return undefined;
        throw error;
      });
    },
    enterScoring(workspace, host, evaluationId, signal) {
      const ofHost = slotOf(scorerHosts, `${workspace} ${host}`, { group: evaluationId });
      return bothSlots(ofHost, slotOf(scorings, workspace, { group: host })).acquire(signal);
    },
    saturated: () =>
      room
        .longLines(SATURATED)
        .flatMap((line) => (line.startsWith(ATTEMPTS_OF) ? [line.slice(ATTEMPTS_OF.length)] : [])),
    ofWorkers: {
      executions: perKey * BUSY_WORKSPACES + SPARE_SLOTS,
      evaluations: BATCHES.total + SCANS.total + SPARE_SLOTS,
      webhooks: ATTEMPTS.total + SPARE_SLOTS,
    },
  };
}
