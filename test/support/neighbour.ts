import { setTimeout as delay } from 'node:timers/promises';
import { z } from 'zod';
import { type Started, startNode } from './processes.ts';
import { waitFor } from './wait-for.ts';

export const PROBES = ['read', 'run', 'delivery'] as const;
export type Probe = (typeof PROBES)[number];

/** What a probe's requests took, in milliseconds. */
export interface Delays {
  worstMs: number;
  medianMs: number;
  count: number;
}

/** How a workspace fared in a span of time. */
export interface Fared {
  delays: Record<Probe, Delays>;
  /** What it was answered that it should not have been, each once. */
  problems: string[];
  /** Prompts that were sent to its model, one for each of its executions. */
  prompts: string[];
}

/** A workspace that goes about its business in a process of its own; see neighbour-main.ts. */
export interface Neighbour {
  /** How it fares while something is done, and until all that it began meanwhile has ended. */
  during(act: () => Promise<void>): Promise<Fared>;
  stop(): Promise<void>;
}

const Line = z.union([
  z.object({ id: z.number(), kind: z.enum(PROBES), at: z.number() }),
  z.object({ id: z.number(), ms: z.number(), problem: z.string().optional() }),
  z.object({ ready: z.literal(true) }),
]);
/** What an act sets off may come to light after it. */
const AFTERMATH_MS = 2_000;

function delaysOf(times: readonly number[]): Delays {
  const sorted = times.toSorted((a, b) => a - b);
  return {
    worstMs: Math.round(sorted.at(-1) ?? 0),
    medianMs: Math.round(sorted[Math.floor(sorted.length / 2)] ?? 0),
    count: sorted.length,
  };
}

function linesOf(process: Started) {
  const lines = process
    .output()
    .split('\n')
    .slice(0, -1)
    .map((line) => Line.parse(JSON.parse(line)));
  return {
    begun: lines.flatMap((line) => ('kind' in line ? [line] : [])),
    ended: new Map(lines.flatMap((line) => ('ms' in line ? [[line.id, line]] : []))),
  };
}

/** How often it reads, and how often it runs a prompt. */
export interface Pace {
  readEveryMs: number;
  runEveryMs: number;
}

/** @param promptName of a prompt `Greet {{ name }}.` in the workspace of the key */
export async function startNeighbour(
  origin: string,
  key: string,
  promptName: string,
  { readEveryMs, runEveryMs }: Pace,
): Promise<Neighbour> {
  const process = startNode('test/support/neighbour-main.ts', {}, [
    origin,
    key,
    promptName,
    String(readEveryMs),
    String(runEveryMs),
  ]);
  await process.says(/"ready"/);
  return {
    async during(act) {
      const from = Date.now();
      await act();
      await delay(AFTERMATH_MS);
      const to = Date.now();
      const begunThen = () => linesOf(process).begun.filter(({ at }) => at >= from && at <= to);
      await waitFor('what the neighbour has begun to end', async () => {
        const { ended } = linesOf(process);
        return begunThen().every(({ id }) => ended.has(id));
      });
      const { ended } = linesOf(process);
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
