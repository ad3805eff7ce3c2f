import { setTimeout as delay } from 'node:timers/promises';
import { startHelper } from './child.ts';
import { executionLoad, type Load, LoadResult } from './load.ts';
import { memoryAtWork } from './memory-at-work.ts';
import { type Outcome, ratioRow, row } from './report.ts';
import type { Servers } from './servers.ts';
import { startService } from './service.ts';
import { median } from './statistics.ts';

const CALLERS = 30;
const STEP = 1_000;
const STEPS = 5;
const SETTLE_MS = 10_000;
const SAMPLES = 5;
const MIB = 1024 * 1024;

/** Memory of the process with API and workers after 1,000 executions and after 5,000. */
export async function measureMemory(servers: Servers): Promise<Outcome> {
  const service = await startService(servers);
  const http = await startHelper('http-load.ts');
  try {
    await service.call('POST', '/prompts', { name: 'bench', template: 'Greet {{ name }}.', model: 'sandbox/echo' });
    const load: Load = {
      ...executionLoad(service),
      callers: CALLERS,
      count: STEP,
    };
    const after: number[][] = [];
    const atWork: number[][] = [];

    for (let step = 0; step < STEPS; step += 1) {
      atWork.push((await memoryAtWork(service, http.ask(load, LoadResult))).samplesMib);
      await delay(SETTLE_MS);
      const samples: number[] = [];
      for (let sample = 0; sample < SAMPLES; sample += 1) {
        samples.push((await service.rssBytes()) / MIB);
        await delay(500);
      }
      after.push(samples);
    }
    const [first = [], last = []] = [after.at(0), after.at(-1)];
    return {
      benchmark: `memory of the service's process (${CALLERS} callers, sandbox/echo)`,
      rows: [
        ...after.map((samples, step) => row(`after ${(step + 1) * STEP} executions`, 'MiB', samples)),
        ...atWork.map((samples, step) => row(`at work, up to ${(step + 1) * STEP}`, 'MiB', samples)),
        ratioRow(
          `at work, ${STEPS * STEP} to ${2 * STEP}`,
          atWork.slice(-1).map(median),
          atWork.slice(1, 2).map(median),
          { atMost: 1.1 },
        ),
        ratioRow(`after ${STEPS * STEP} to after ${STEP}`, last, first, { below: 1.15 }),
      ],
    };
  } finally {
    await http.stop();
    await service.stop();
  }
}
