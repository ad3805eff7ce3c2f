import { mkdtemp, readdir, stat } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { Pms } from '../clients/typescript/src/index.ts';
import { buildClient, compressedBytes, readBuilt } from '../scripts/build-client.ts';
import { pythonWith, run } from '../scripts/python.ts';
import type { Means } from './means.ts';
import { type Outcome, type Row, row } from './report.ts';
import type { Servers } from './servers.ts';
import { startService } from './service.ts';
import { quantile } from './statistics.ts';

const ROUNDS = 7;
const PROMPTS = 100;
const GETS = 10_000;
const TIMED_GETS = 200_000;
const GETS_A_ROUND = 2_000_000;
const MINUTES = 10;

const CLIENTS = fileURLToPath(new URL('../clients', import.meta.url));
const kB = (bytes: number) => [bytes / 1000];

/** Code that a program has to load or download. */
async function sizes(folder: string): Promise<Row[]> {
  const [built, packed] = [await mkdtemp(path.join(folder, 'built-')), await mkdtemp(path.join(folder, 'packed-'))];
  await buildClient(built, ['--removeComments']);
  const python = path.join(CLIENTS, 'python');
  const interpreter = await pythonWith(path.join(python, 'requirements-dev.txt'));
  for (const [program, args, cwd] of [
    ['npm', ['pack', '--pack-destination', packed], path.join(CLIENTS, 'typescript')],
    [interpreter, ['-m', 'hatchling', 'build', '-t', 'wheel', '-d', packed], python],
  ] as const) {
    const { code, output } = await run(program, [...args], { cwd });
    if (code !== 0) throw new Error(output);
  }
  const bytesOf = async (ending: string) => {
    const file = (await readdir(packed)).find((name) => name.endsWith(ending)) ?? '';
    return (await stat(path.join(packed, file))).size;
  };
  return [
    row('JavaScript of the TypeScript client, compressed', 'kB', kB(compressedBytes(await readBuilt(built))), {
      below: 15,
    }),
    row('package of the TypeScript client', 'kB', kB(await bytesOf('.tgz'))),
    row('package of the Python client', 'kB', kB(await bytesOf('.whl'))),
  ];
}

/** `prompts.get` of the TypeScript client: from its cache, and its requests to the service. Also the size of the clients. */
export async function measureClients(servers: Servers, { profileFolder }: Means): Promise<Outcome> {
  const service = await startService(servers, { RATE_LIMIT_PER_MINUTE: '100000000' }, profileFolder);
  try {
    const names = Array.from({ length: PROMPTS }, (_, index) => `bench/prompt-${index}`);
    for (const name of names)
      await service.call('POST', '/prompts', { name, template: 'Greet {{ name }}.', model: 'sandbox/echo' });
    let time = Date.now();
    const clientOf = (now: () => number) => new Pms({ baseUrl: service.origin, apiKey: service.key, cache: { now } });

    // A minute with 10,000 gets, spread evenly over time and prompts.
    const counted = clientOf(() => time).prompts;
    const requests: number[] = [];
    for (let minute = 0; minute < MINUTES; minute += 1) {
      const before = counted.metrics.requests;
      for (let get = 0; get < GETS; get += 1) {
        await counted.get(names[get % PROMPTS] ?? '');
        time += 60_000 / GETS;
        // Background requests are answered while the clock is stopped.
        if (counted.metrics.requests > before) await new Promise((resolve) => setImmediate(resolve));
      }
      requests.push(counted.metrics.requests - before);
    }

    const { prompts } = clientOf(Date.now);
    await Promise.all(names.map((name) => prompts.get(name)));
    const perSecond: number[] = [];
    const p99: number[] = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      const began = performance.now();
      for (let get = 0; get < GETS_A_ROUND; get += 1) await prompts.get(names[get % PROMPTS] ?? '');
      perSecond.push((GETS_A_ROUND / (performance.now() - began)) * 1000);
      const took: number[] = [];
      for (let get = 0; get < TIMED_GETS; get += 1) {
        const start = performance.now();
        await prompts.get(names[get % PROMPTS] ?? '');
        took.push((performance.now() - start) * 1000);
      }
      p99.push(quantile(took, 0.99));
    }
    return {
      benchmark: 'clients (TypeScript: prompts.get of 100 prompts)',
      rows: [
        row('from the cache', '/s', perSecond, { atLeast: 1_000_000 }),
        row('from the cache, p99', 'µs', p99, { below: 5 }),
        row('requests for 10,000 gets in a minute', '', requests, { atMost: 100 }),
        ...(await sizes(servers.folder)),
      ],
    };
  } finally {
    await service.stop();
  }
}
