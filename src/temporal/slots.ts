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

/** This many workspaces can each reach their limit of calls in flight, with room left for others. */
const BUSY_WORKSPACES = 10;
/** Concurrent batches of evaluations. */
const BATCHES = { total: 320, perKey: 32 };
/** Concurrent batches of rules and backfills: separate because a rule may run all day. */
const SCANS = BATCHES;
/** Concurrent delivery attempts. */
const ATTEMPTS = { total: 400, perKey: 100 };
/** Concurrent requests to callers' scorers. */
const SCORINGS = { total: 400, perKey: 100 };
/** Isolated work starts one at a time: when the previous one has ended, or has run this long without a crash. */
const HARMLESS_AFTER_MS = 10_000;
/** A workspace starts no more deliveries while this many of its deliveries wait: waiting rows cost nothing. */
const SATURATED = 100;
/** Worker slots for steps that find none of those below and are soon sent away. */
const SPARE_SLOTS = 200;

const ATTEMPTS_OF = 'attempts of ';

/** A slot, to be released once, or the time until the next try. */
export type Entered = { release: Release } | { comeBackInMs: number };

/**
 * Semaphores for what workspaces have in flight in one worker process. A workflow step that finds no slot returns, so that it does
 * not occupy a worker slot; its workflow is signaled when its slot is free. Workspaces are named by public id.
 */
export interface Slots {
  /** Model calls. Executions acquire a slot with `enterCall`, ahead of the examples of evaluations. */
  calls: FairSemaphore;
  /** Bytes of loaded evaluation examples. */
  examples: FairSemaphore;
  /**
   * Bytes of filled prompts, the requests created from them and their responses. Acquired after `examples` and before a slot of `calls`,
   * so that no two wait for each other.
   */
  inputs: FairSemaphore;
  /** @param inputBytes of its call, acquired from `inputs` */
  enterCall(workspace: string, executionId: string, inputBytes: number): Promise<Entered>;
  /** Waits until an isolated execution may run. Acquire this before anything else. */
  enterSetAside(workspace: string, executionId: string): Promise<Entered>;
  /**
   * Waits until an isolated example may run.
   * @throws the reason of `signal`, which ends the wait
   */
  waitSetAside(workspace: string, signal: AbortSignal): Promise<Release>;
  /** Bytes of delivery bodies; acquired after the slot of the attempt. */
  deliveries: FairSemaphore;
  /** @param batch `from`: number of its first example */
  enterBatch(workspace: string, batch: { evaluationId: string; round: number; from: number }): Promise<Entered>;
  /** A batch of a rule or a backfill. @param work `id`: UUID */
  enterScan(workspace: string, work: { kind: 'rule' | 'backfill'; id: string }): Promise<Entered>;
  /** @param host `host:port` of the receiver */
  enterAttempt(workspace: string, delivery: DeliveryIdentity, host: string): Promise<Entered>;
  /**
   * Waits for a slot for an attempt without a workflow.
   * @param endOfWait creates the signal that ends the wait, called only if there is one
   * @returns undefined if that signal ended it
   */
  waitForAttempt(workspace: string, host: string, endOfWait: () => AbortSignal): Promise<Release | undefined>;
  /**
   * Waits for a slot for a request to a scorer.
   * @param evaluationId of the scored example: the runs of a workspace take turns
   * @throws the reason of `signal`, which ends the wait
   */
  enterScoring(workspace: string, host: string, evaluationId: string, signal: AbortSignal): Promise<Release>;
  /** Workspaces whose deliveries already wait for each other here, so starting more is pointless. */
  saturated(): string[];
  /** Maximum concurrent activities of each queue's workers. */
  ofWorkers: { executions: number; evaluations: number; webhooks: number };
}

export interface SlotsOptions {
  /** `WORKSPACE_CONCURRENCY` */
  workspaceConcurrency: number;
  /** `WEBHOOK_HOST_CONCURRENCY` */
  hostConcurrency: number;
  /**
   * Notifies a workflow that a slot is reserved for one of its steps.
   * @returns false if the workflow has ended
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
  // Separate, so that evaluations and webhooks do not wait for each other.
  const scorings = createFairSemaphore(SCORINGS);
  const scorerHosts = perHost();
  const room = createWaitingRoom();
  // Work that was in flight during a crash. If another crash follows, the latest to start most likely caused it.
  const setAside = createFairSemaphore({ total: 1 });

  // Workspaces that send to the same host do not wait for each other.
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
