import process from 'node:process';
import { setTimeout as delay } from 'node:timers/promises';
import { z } from 'zod';
import { startReceiver } from './receiver.ts';

// A workspace under normal load: it repeatedly reads a prompt, runs it, and receives a webhook about the end, whether or not
// earlier requests were answered. A separate process, so that only the service can delay it. Prints a line of JSON for each
// start and end; SIGTERM ends it once nothing is in progress.
//
// node test/support/neighbour-main.ts ORIGIN KEY PROMPT READ_EVERY_MS RUN_EVERY_MS

const [origin = '', key = '', prompt = '', readEveryMs = '', runEveryMs = ''] = process.argv.slice(2);

const Created = z.object({ id: z.string(), status: z.string(), finished_at: z.string().nullable() });
const Told = z.object({ data: z.object({ execution_id: z.string() }) });

const print = (line: object) => void process.stdout.write(`${JSON.stringify(line)}\n`);
let count = 0;
let underWay = 0;
let stopping = false;

/** Does something and prints how long it took, in milliseconds. */
async function probe(kind: string, work: (id: number) => Promise<void>): Promise<void> {
  const id = ++count;
  const from = performance.now();
  underWay += 1;
  print({ id, kind, at: Date.now() });
  const problem = await work(id).then(
    () => undefined,
    (error: unknown) => String(error),
  );
  underWay -= 1;
  print({ id, ms: performance.now() - from, ...(problem !== undefined && { problem }) });
}

async function request(method: string, path: string, body?: object): Promise<unknown> {
  const response = await fetch(`${origin}/v1${path}`, {
    method,
    headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${method} ${path} answered ${response.status}: ${text.slice(0, 500)}`);
  return JSON.parse(text);
}

/** Executions whose end the webhook has reported, and those waiting for it. */
const told = new Set<string>();
const waiting = new Map<string, () => void>();
const receiver = await startReceiver((received, response) => {
  const id = Told.parse(received.body).data.execution_id;
  told.add(id);
  waiting.get(id)?.();
  response.writeHead(200).end();
});
await request('POST', '/webhooks', { url: receiver.url, events: ['execution.completed'] });

async function run(): Promise<void> {
  let ended: string | undefined;
  await probe('run', async (id) => {
    const body = { prompt_name: prompt, variables: { name: `number ${id}` } };
    const record = Created.parse(await request('POST', '/executions', body));
    if (record.status !== 'completed') throw new Error(`The execution is ${record.status}.`);
    ended = record.id;
  });
  const execution = ended;
  if (execution === undefined) return;
  await probe('delivery', async () => {
    if (!told.has(execution)) await new Promise<void>((resolve) => waiting.set(execution, resolve));
  });
}

async function every(ms: number, start: () => Promise<void>): Promise<void> {
  while (!stopping) {
    void start();
    await delay(ms);
  }
}

process.once('SIGTERM', () => {
  stopping = true;
});
print({ ready: true });
await Promise.all([
  every(Number(runEveryMs), run),
  every(Number(readEveryMs), () => probe('read', async () => void (await request('GET', `/prompts/${prompt}`)))),
]);
while (underWay > 0) await delay(10);
await receiver.close();
