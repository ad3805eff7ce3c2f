import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import { type Delays, PROBES, type Probe } from './neighbour.ts';
import { PROJECT } from './processes.ts';

/** The measurements of one hostile act. */
export interface HostileRow {
  act: string;
  /** Delays of the other workspace. */
  delays: Record<Probe, Delays>;
  /** Most memory that the processes held. */
  apiMiB: number;
  workerMiB: number;
  /** Calls of models for the other workspace. */
  callsNeeded: number;
  callsPaid: number;
}

const HEADINGS = [
  'one workspace …',
  'read, worst (median)',
  'execution',
  'delivery',
  'memory of API, worker',
  'calls paid (needed)',
];

/** Rows as a table in Markdown. */
export function toMarkdown(rows: readonly HostileRow[]): string {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
  return [
    line(HEADINGS),
    line(HEADINGS.map(() => '---')),
    ...rows.map(({ act, delays, apiMiB, workerMiB, callsNeeded, callsPaid }) =>
      line([
        act,
        ...PROBES.map((probe) => `${delays[probe].worstMs} ms (${delays[probe].medianMs})`),
        `${apiMiB} MiB, ${workerMiB} MiB`,
        `${callsPaid} (${callsNeeded})`,
      ]),
    ),
    '',
  ].join('\n');
}

/** Writes the table to `.cache/hostile-tenants.md`, and prints it in interactive runs. */
export function report(rows: readonly HostileRow[], aloud: boolean): void {
  const folder = path.join(PROJECT, '.cache');
  mkdirSync(folder, { recursive: true });
  const table = toMarkdown(rows);
  writeFileSync(path.join(folder, 'hostile-tenants.md'), table);
  if (aloud) process.stderr.write(`\n${table}\n`);
}
