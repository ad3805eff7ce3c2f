import type { ServerResponse } from 'node:http';
import type { Query, WorkspaceDatabase } from '../db/database.ts';
import { tooManyWaiting } from '../domain/errors.ts';
import { MEMORY_SHARES } from '../domain/memory-shares.ts';
import { heapBytes } from '../lib/byte-budget.ts';
import { createFairSemaphore, type FairSemaphore, type Release } from '../lib/fair-semaphore.ts';
import { createTurns, type Turns } from '../lib/turns.ts';

/** From here on a body or a response is large: what it takes is shared. */
export const LARGE_BYTES = 64 * 1024;
/** A response is in memory as texts of the database, as one text and as bytes. A body is bytes until its turn. */
const COPIES = 3;
/** Bodies and responses each may have their share of the heap, and so many bytes at most. */
const MAX_BYTES = 256 * 1024 * 1024;
/** Addresses without a key that take a step in one round of the event loop. */
const STEPS_OF_STRANGERS = 2;

/** What requests take of an API process, shared by workspaces: memory for large bodies and responses, and turns. */
export interface LargeWork {
  /** Bytes of bodies that arrive or wait for their turn. */
  bodies: FairSemaphore;
  /** Bytes that responses take. */
  responses: FairSemaphore;
  /** Of workspaces, with what workers do in the same process: by public ids. */
  turns: Turns;
  /** Of addresses whose requests have no key, or one that is not known yet. */
  turnsOfStrangers: Turns;
}

/**
 * @param turns of the process
 * @param bytes of bodies, and of responses. Default: their share of the heap, at most 256 MiB
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
 * Waits until a caller can take its next step.
 * @param signal ends the wait
 * @param urgent it goes on with a request that has begun: these come first
 * @throws ApiError `rate_limited`
 */
export async function takeStep(turns: Turns, caller: string, signal: () => AbortSignal, urgent = false): Promise<void> {
  await turns.step(caller, { signal, urgent }).catch(refuse);
}

function refuse(error: unknown): never {
  throw tooManyWaiting(error);
}

/** Of a request that only reads: the rows of each statement are dealt with in a step of their own. */
export function readInSteps(db: WorkspaceDatabase, handling: Handling): WorkspaceDatabase {
  const query = async (...given: Parameters<Query>) => {
    const rows = await db.query(...given);
    await handling.step();
    return rows;
  };
  return { ...db, query: query as Query };
}

/** What one request has of {@link LargeWork}. It is given back with the response. */
export interface Handling {
  /** Waits for memory for a body that is about to be read. @param bytes as announced */
  receive(bytes: number): Promise<void>;
  /** Waits for a turn at a body that has come, where it is large. @param bytes as it is */
  begin(bytes: number): Promise<void>;
  /** Ends the turn of a body that stays in memory. */
  endTurn(): void;
  /** Gives back what the body took. */
  dealtWith(): void;
  /** Waits for memory for what is about to be read and shown. @param bytes of its texts */
  reserve(bytes: number): Promise<void>;
  /** Waits for a turn at a part of a body that is read bit by bit. @param bytes of the part: a small one has its turn at once @returns ends the turn */
  turn(bytes: number): Promise<() => void>;
  /** Waits for the next step of a request that has begun. */
  step(): Promise<void>;
  /** Writes what is shown, which may take long, in a turn. */
  show<T>(write: () => Promise<T>): Promise<T>;
  /** Gives back what was reserved, but for so many bytes: those stay in memory until the caller has taken them. Default: for none. */
  keep(bytes?: number): void;
}

/**
 * @param key the workspace's public id, or who else shares
 * @param response with its end, or that of its connection, everything is given back
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
  /** All that the request has taken, one after the other. */
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

  /** What is taken is given back at the end, also where that has come meanwhile. */
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
