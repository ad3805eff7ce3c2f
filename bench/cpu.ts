import { readdir, readFile } from 'node:fs/promises';

/** The unit of Linux' CPU times. */
const TICK_MS = 10;

interface ProcessStat {
  pid: number;
  parent: number;
  cpuMs: number;
}

async function statOf(pid: number): Promise<ProcessStat | undefined> {
  let text: string;
  try {
    text = await readFile(`/proc/${pid}/stat`, 'utf8');
  } catch {
    return undefined;
  }
  // The second field is the program's name in parentheses, which may contain anything:
  // https://man7.org/linux/man-pages/man5/proc_pid_stat.5.html
  const fields = text
    .slice(text.lastIndexOf(')') + 2)
    .split(' ')
    .map(Number);
  // utime, stime, and those of ended children.
  const cpuMs = fields.slice(11, 15).reduce((sum, ticks) => sum + ticks, 0) * TICK_MS;
  return { pid, parent: fields[1] ?? 0, cpuMs };
}

/** CPU time of a process and its descendants so far, in milliseconds. Linux only. */
export async function cpuMsOf(pids: readonly number[]): Promise<number> {
  const names = (await readdir('/proc')).map(Number).filter((pid) => pid > 0);
  const stats = (await Promise.all(names.map(statOf))).filter((stat) => stat !== undefined);
  const counted = new Set(pids);
  for (let size = 0; size !== counted.size; ) {
    size = counted.size;
    for (const { pid, parent } of stats) if (counted.has(parent)) counted.add(pid);
  }
  return stats.reduce((sum, { pid, cpuMs }) => sum + (counted.has(pid) ? cpuMs : 0), 0);
}

/** The CPU time that `work` takes in each of these processes, in milliseconds, by name. */
export async function cpuOf<Name extends string, T>(
  processes: Record<Name, readonly number[]>,
  work: () => Promise<T>,
): Promise<{ result: T; cpuMs: Record<Name, number> }> {
  const names = Object.keys(processes) as Name[];
  const read = () => Promise.all(names.map((name) => cpuMsOf(processes[name])));
  const before = await read();
  const result = await work();
  const after = await read();
  const used = names.map((name, index) => [name, (after[index] ?? 0) - (before[index] ?? 0)]);
  return { result, cpuMs: Object.fromEntries(used) as Record<Name, number> };
}
