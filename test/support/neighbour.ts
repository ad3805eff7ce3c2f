import { setTimeout as delay } from 'node:timers/promises';
import { z } from 'zod';
import { type Started, startNode } from './processes.ts';
import { waitFor } from './wait-for.ts';

export const PROBES = ['read', 'run', 'delivery'] as const;
export type Probe = (typeof PROBES)[number];

/** Durations of a probe's requests, in milliseconds. */
export interface Delays {
  worstMs: number;
  medianMs: number;
  /** Ninety-nine of a hundred took no longer. */
  p99Ms: number;
  count: number;
}

/** How a workspace fared in a span of time. */
export interface Fared {
  delays: Record<Probe, Delays>;
  /** Unexpected responses, without duplicates. */
  problems: string[];
  /** Prompts that were sent to its model, one for each of its executions. */
  prompts: string[];
}

/** A workspace under normal load in a separate process; see neighbour-main.ts. */
export interface Neighbour {
  /** Measures it during an act, and until everything that it started has ended. */
  during(act: () => Promise<void>): Promise<Fared>;
  stop(): Promise<void>;
}

const Line = z.union([
  z.object({ id: z.number(), kind: z.enum(PROBES), at: z.number() }),
  z.object({ id: z.number(), ms: z.number(), problem: z.string().optional() }),
  z.object({ ready: z.literal(true) }),
]);

function delaysOf(times: readonly number[]): Delays {
  const sorted = times.toSorted((a, b) => a - b);
  return {
    worstMs: Math.round(sorted.at(-1) ?? 0),
    medianMs: Math.round(sorted[Math.floor(sorted.length / 2)] ?? 0),
    p99Ms: Math.round(sorted[Math.ceil(sorted.length * 0.99) - 1] ?? 0),
    count: sorted.length,
  };
}

/** Its output so far. Each line is parsed once. */
function linesOf(process: Started) {
  const begun: { id: number; kind: Probe; at: number }[] = [];
  const ended = new Map<number, { ms: number; problem?: string | undefined }>();
  let read = 0;
  return () => {
    const output = process.output();
    const end = output.lastIndexOf('\n') + 1;
    for (const text of output.slice(read, end).split('\n').slice(0, -1)) {
      const line = Line.parse(JSON.parse(text));
      if ('kind' in line) begun.push(line);
      if ('ms' in line) ended.set(line.id, line);
    }
    read = end;
    return { begun, ended };
  };
}

/** How often it reads, and how often it runs a prompt. */
export interface Pace {
  readEveryMs: number;
  runEveryMs: number;
  /** How long to continue after an act, whose effects may appear later. At least one run starts after the act. */
  aftermathMs: number;
}

/** @param promptName of a prompt `Greet {{ name }}.` in the workspace of the key */
export async function startNeighbour(
  origin: string,
  key: string,
  promptName: string,
  { readEveryMs, runEveryMs, aftermathMs }: Pace,
): Promise<Neighbour> {
  const process = startNode('test/support/neighbour-main.ts', {}, [
    origin,
    key,
    promptName,
    String(readEveryMs),
    String(runEveryMs),
  ]);
  await process.says(/"ready"/);
  const lines = linesOf(process);
  return {
    async during(act) {
      const from = Date.now();
      await act();
      const acted = Date.now();
      await delay(aftermathMs);
      await waitFor('the neighbour to begin another run', async () =>
        lines().begun.some(({ kind, at }) => kind === 'run' && at > acted),
      );
      const to = Date.now();
      const begunThen = () => lines().begun.filter(({ at }) => at >= from && at <= to);
      await waitFor('what the neighbour has begun to end', async () => {
        const { ended } = lines();
        return begunThen().every(({ id }) => ended.has(id));
      });
      const { ended } = lines();
      const begun = begunThen();
      const times = (probe: Probe) =>
        begun.filter(({ kind }) => kind === probe).flatMap(({ id }) => ended.get(id)?.ms ?? []);
      return {
        delays: {
          read: delaysOf(times('read')),
          run: delaysOf(times('run')),
          delivery: delaysOf(times('delivery')),
        },
        problems: [...new Set(begun.flatMap(({ id }) => ended.get(id)?.problem ?? []))],
        prompts: begun.flatMap(({ id, kind }) => (kind === 'run' ? [`Greet number ${id}.`] : [])),
      };
    },
    async stop() {
      process.kill('SIGTERM');
      await process.ended;
    },
  };
}
