import type { ServerResponse } from 'node:http';
import type { Query, WorkspaceDatabase } from '../db/database.ts';
import { tooManyWaiting } from '../domain/errors.ts';
import { MEMORY_SHARES } from '../domain/memory-shares.ts';
import { heapBytes } from '../lib/byte-budget.ts';
import { createFairSemaphore, type FairSemaphore, type Release } from '../lib/fair-semaphore.ts';
import { createTurns, type Turns } from '../lib/turns.ts';

/** From this size, bodies and responses count as large and use shared resources. */
export const LARGE_BYTES = 64 * 1024;
/** Copies of a response in memory: database strings, one string, and bytes. A body is bytes until its turn. */
const COPIES = 3;
/** Bodies and responses each get their share of the heap, at most this many bytes. */
const MAX_BYTES = 256 * 1024 * 1024;
/** Addresses without a key that get a step in one round of the event loop. */
const STEPS_OF_STRANGERS = 2;

/** Resources of an API process for requests, shared by workspaces: memory for large bodies and responses, and turns. */
export interface LargeWork {
  /** Bytes of bodies that are arriving or waiting for their turn. */
  bodies: FairSemaphore;
  /** Bytes of responses. */
  responses: FairSemaphore;
  /** Turns of workspaces by public id, shared with workers in the same process. */
  turns: Turns;
  /** Turns of addresses whose requests have no key, or an unverified one. */
  turnsOfStrangers: Turns;
}

/**
 * @param turns of the process
 * @param bytes for bodies, and for responses. Default: their share of the heap, at most 256 MiB
 */
export function createLargeWork(
  turns: Turns,
  bytes = Math.min(MAX_BYTES, heapBytes(MEMORY_SHARES.largeWork)),
): LargeWork {
  return {
    bodies: createFairSemaphore({ total: bytes }),
    responses: createFairSemaphore({ total: bytes }),
    turns,
    turnsOfStrangers: createTurns({ steps: STEPS_OF_STRANGERS }),
  };
}

/**
 * Waits for a caller's next step.
 * @param signal ends the wait
 * @param urgent the request has already started: these come first
 * @throws ApiError `rate_limited`
 */
export async function takeStep(turns: Turns, caller: string, signal: () => AbortSignal, urgent = false): Promise<void> {
  await turns.step(caller, { signal, urgent }).catch(refuse);
}

function refuse(error: unknown): never {
  throw tooManyWaiting(error);
}

/** For read-only requests: the rows of each statement are handled in their own step. */
export function readInSteps(db: WorkspaceDatabase, handling: Handling): WorkspaceDatabase {
  const query = async (...given: Parameters<Query>) => {
    const rows = await db.query(...given);
    await handling.step();
    return rows;
  };
  return { ...db, query: query as Query };
}

/** A request's share of {@link LargeWork}, released with the response. */
export interface Handling {
  /** Waits for memory for a body about to be read. @param bytes the announced length */
  receive(bytes: number): Promise<void>;
  /** Waits for a turn if a received body is large. @param bytes the actual length */
  begin(bytes: number): Promise<void>;
  /** Ends a body's turn; the body stays in memory. */
  endTurn(): void;
  /** Releases what the body took. */
  dealtWith(): void;
  /** Waits for memory for a response that is about to be read. @param bytes of its texts */
  reserve(bytes: number): Promise<void>;
  /** Waits for a turn for part of a streamed body. @param bytes of the part: a small one does not wait @returns ends the turn */
  turn(bytes: number): Promise<() => void>;
  /** Waits for the next step of a started request. */
  step(): Promise<void>;
  /** Serializes a response, which can take long, in a turn. */
  show<T>(write: () => Promise<T>): Promise<T>;
  /**
   * Releases what was reserved, except for the given bytes, which stay in memory until the caller has received them. Default: none.
   */
  keep(bytes?: number): void;
}

/**
 * @param key the workspace's public id, or another sharing key
 * @param response everything is released when it or its connection ends
 * @param signal ends every wait
 */
export function createHandling(
  { bodies, responses, turns }: LargeWork,
  key: string,
  response: ServerResponse,
  signal: () => AbortSignal,
): Handling {
  let body: Release | undefined;
  let turn: Release | undefined;
  let shown: Release | undefined;
  /** Everything that the request has acquired, in order. */
  const taken: Release[] = [];

  function endTurn() {
    turn?.();
    turn = undefined;
  }

  function dealtWith() {
    endTurn();
    body?.();
    body = undefined;
  }

  /** Acquired memory is released at the end, even if that came during the wait. */
  async function takeMemory(semaphore: FairSemaphore, bytes: number): Promise<Release> {
    const free = semaphore.tryAcquire(key, bytes);
    const release = free ?? (await semaphore.acquire(key, { amount: bytes, signal: signal() }).catch(refuse));
    if (response.closed) release();
    else if (taken.push(release) === 1)
      response.once('close', () => {
        for (const each of taken) each();
      });
    return release;
  }

  const takeTurn = (): Promise<Release> => turns.take(key, { signal }).catch(refuse);

  return {
    endTurn,
    dealtWith,
    async receive(bytes) {
      if (bytes > LARGE_BYTES) body = await takeMemory(bodies, bytes);
    },
    async begin(bytes) {
      if (bytes <= LARGE_BYTES) body?.();
      else {
        body?.(bytes);
        turn = await takeTurn();
      }
    },
    async reserve(bytes) {
      shown?.();
      shown = await takeMemory(responses, COPIES * bytes);
    },
    step: () => takeStep(turns, key, signal, true),
    turn: async (bytes) => (bytes <= LARGE_BYTES ? () => {} : takeTurn()),
    async show(write) {
      const release = turn ?? (await takeTurn());
      try {
        return await write();
      } finally {
        release();
      }
    },
    keep: (bytes = 0) => shown?.(bytes),
  };
}
