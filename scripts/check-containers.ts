// Runs what users of containers get, as they get it: npm run check:containers [-- --without temporal-ui] [--keep]
// Builds the image by the Dockerfile, brings docker-compose.yml up, runs the commands of the README, an evaluation and a
// webhook through it, kills containers, stops and starts them, and replaces the image in place. Needs Docker with Compose,
// or Podman with podman-compose. The containers, volumes and images of the check have names of their own and are removed
// at the end.
import { spawn, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import process from 'node:process';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { Webhook } from 'standardwebhooks';

const root = fileURLToPath(new URL('..', import.meta.url));
const { values: options } = parseArgs({
  options: { keep: { type: 'boolean', default: false }, without: { type: 'string', multiple: true, default: [] } },
});

const succeeds = (program: string, ...args: string[]) => spawnSync(program, args, { stdio: 'ignore' }).status === 0;
function findEngine(): { engine: 'docker' | 'podman'; compose: string[] } {
  if (succeeds('docker', 'compose', 'version') && succeeds('docker', 'info'))
    return { engine: 'docker', compose: ['docker', 'compose'] };
  if (succeeds('podman', 'info') && succeeds('podman-compose', '--version'))
    return { engine: 'podman', compose: ['podman-compose', '--in-pod=false'] };
  console.error('No container engine: install Docker with Compose, or Podman with podman-compose.');
  process.exit(2);
}
const { engine, compose: composeCommand } = findEngine();

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  if (address === null || typeof address === 'string') throw new Error('no free port');
  return address.port;
}

const project = `pms-check-${process.pid}`;
const folder = mkdtempSync(path.join(tmpdir(), `${project}-`));
const override = path.join(folder, 'override.json');
const key = randomBytes(24).toString('hex');
const port = await freePort();
const env = {
  ...process.env,
  ENCRYPTION_KEY: randomBytes(32).toString('base64'),
  BOOTSTRAP_API_KEY: key,
  PMS_PORT: String(port),
  TEMPORAL_UI_PORT: String(await freePort()),
  // Settings of the service, which must not determine where container ports are published.
  HOST: '0.0.0.0',
  PORT: '1',
  // Podman's own image format has no health checks.
  BUILDAH_FORMAT: 'docker',
};

/** Runs a program to its end and returns its output. */
function run(command: string[], { stdin = '', timeout = 900_000 } = {}): string {
  const [program = '', ...args] = command;
  const { status, stdout, stderr, error } = spawnSync(program, args, {
    cwd: root,
    env,
    input: stdin,
    encoding: 'utf8',
    timeout,
    maxBuffer: 2 ** 28,
  });
  if (error || status !== 0)
    throw new Error(`${command.join(' ')}: ${error?.message ?? `status ${status}`}\n${stderr.slice(-4000)}`);
  return stdout;
}
const compose = (...args: string[]) =>
  run([...composeCommand, '--project-name', project, '-f', 'docker-compose.yml', '-f', override, ...args]);

/** Records received webhooks, and lists them for `GET /`. */
const RECEIVER = `const received = [];
require('node:http').createServer((request, response) => {
  if (request.method === 'GET') return response.end(JSON.stringify(received));
  const chunks = [];
  request.on('data', (chunk) => chunks.push(chunk));
  request.on('end', () => {
    received.push({ headers: request.headers, body: Buffer.concat(chunks).toString() });
    response.end();
  });
}).listen(8080);`;

function writeOverride(image: string) {
  const environment = { WEBHOOK_ALLOW_PRIVATE: 'true' };
  const services = {
    migrate: { image, environment },
    api: { image, environment },
    worker: { image, environment },
    receiver: { image, command: ['node', '-e', RECEIVER], init: true, healthcheck: { disable: true } },
  };
  writeFileSync(override, JSON.stringify({ services }));
}

const idOf = (service: string) => compose('ps', '--all', '--quiet', service).trim().split('\n').at(-1) ?? '';
/** podman-compose's `ps` does not list services; its container names have a fixed pattern. */
const container = (service: string) => (engine === 'podman' ? `${project}_${service}_1` : idOf(service));
const inspect = (service: string) => JSON.parse(run([engine, 'inspect', container(service)]))[0];

/** Waits for a condition; errors count as "not yet". */
async function until<T>(
  what: string,
  condition: () => Promise<T | undefined> | T | undefined,
  seconds = 180,
): Promise<T> {
  const end = Date.now() + seconds * 1000;
  let last: unknown;
  while (Date.now() < end) {
    try {
      const value = await condition();
      if (value !== undefined && value !== false) return value;
    } catch (error) {
      last = error;
    }
    await sleep(500);
  }
  throw new Error(`not within ${seconds} s: ${what}`, { cause: last });
}

/** Runs the service's own health check explicitly: Podman runs none without systemd. */
async function healthy(service: string) {
  await until(`${service} is healthy`, () =>
    engine === 'podman'
      ? succeeds('podman', 'healthcheck', 'run', container(service)) || undefined
      : inspect(service).State.Health.Status === 'healthy' || undefined,
  );
}

const SERVICES = ['postgres', 'temporal', 'temporal-ui', 'migrate', 'api', 'worker', 'receiver'].filter(
  (service) => !options.without.includes(service),
);

/** Starts everything in the order of docker-compose.yml, and waits until all are healthy. */
async function up() {
  if (engine === 'docker') {
    compose('up', '--detach', '--no-build', ...SERVICES);
  } else {
    for (const service of SERVICES) {
      compose('up', '--detach', '--no-build', '--no-deps', service);
      if (service === 'postgres' || service === 'temporal') await healthy(service);
      if (service !== 'migrate') continue;
      await until('the migration has ended', () => inspect('migrate').State.Status === 'exited' || undefined);
    }
  }
  for (const service of ['postgres', 'temporal', 'api', 'worker']) await healthy(service);
  const { ExitCode } = inspect('migrate').State;
  if (ExitCode !== 0)
    throw new Error(`the migration ended with ${ExitCode}:\n${run([engine, 'logs', container('migrate')])}`);
}

const containerAddress = (service: string) =>
  Object.values<{ IPAddress: string }>(inspect(service).NetworkSettings.Networks)[0]?.IPAddress ?? '';
const answers = (url: string) =>
  fetch(url, { signal: AbortSignal.timeout(5000) }).then(
    (response) => response.ok,
    () => false,
  );

/** The address of the API: its published port, or its container if the engine does not forward ports to loopback. */
async function origin(): Promise<string> {
  return await until('the API answers', async () => {
    for (const candidate of [`http://127.0.0.1:${port}`, `http://${containerAddress('api')}:3000`]) {
      if (await answers(`${candidate}/readyz`)) return candidate;
    }
    return undefined;
  });
}

async function call(method: string, route: string, body?: unknown) {
  const response = await fetch(`${await origin()}/v1${route}`, {
    method,
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${method} ${route}: ${response.status} ${text}`);
  return JSON.parse(text);
}

type Received = { headers: Record<string, string>; body: string };
const received = async (): Promise<Received[]> =>
  (await fetch(`http://${containerAddress('receiver')}:8080/`)).json() as Promise<Received[]>;

const PROMPTS = { 'check/echo': 'sandbox/echo', 'check/slow': 'sandbox/slow-500' };
const evaluationOf = (count: number, prompt: keyof typeof PROMPTS) => ({
  prompt_name: prompt,
  examples: Array.from({ length: count }, (_, index) => ({
    id: `e${index}`,
    variables: { word: `word ${index}` },
    expected: `Say word ${index}.`,
  })),
  evaluators: [{ type: 'exact_match' }],
  concurrency: 4,
});
const ended = (id: string) =>
  until(`evaluation ${id} has ended`, async () => {
    const evaluation = await call('GET', `/evaluations/${id}`);
    return ['completed', 'failed', 'canceled'].includes(evaluation.status) ? evaluation : undefined;
  });

async function runReadme() {
  const readme = readFileSync(path.join(root, 'README.md'), 'utf8');
  const blocks = [...readme.matchAll(/^```sh\n(curl [\s\S]*?)^```$/gm)].map(([, block = '']) => block);
  const AUTH = `Authorization: Bearer ${key}`;
  const API = `${await origin()}/v1`;
  for (const block of blocks) {
    const shell = spawn('bash', ['-euo', 'pipefail', '-c', block.replaceAll('curl -s', 'curl --fail-with-body -sS')], {
      env: { PATH: process.env['PATH'], API, AUTH },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let output = '';
    for (const stream of [shell.stdout, shell.stderr])
      stream.setEncoding('utf8').on('data', (text) => (output += text));
    const code = await new Promise<number | null>((resolve) => shell.once('close', resolve));
    if (code !== 0) throw new Error(`${block}\nended with ${code}: ${output}`);
  }
  return `${blocks.length} blocks of commands`;
}

const MEGABYTE = 1e6;
const sizeOf = (image: string) => Number(run([engine, 'image', 'inspect', '--format', '{{.Size}}', image]));

const image = `localhost/${project}:1`;
const upgraded = `localhost/${project}:2`;
let webhookSecret = '';
let finished = '';

const steps: [string, () => Promise<string>][] = [
  [
    'the image is built, at most 200 MB over node:24-slim',
    async () => {
      writeOverride(image);
      run([engine, 'build', '--tag', image, '.']);
      const over = (sizeOf(image) - sizeOf('node:24-slim')) / MEGABYTE;
      if (over > 200) throw new Error(`it is ${over.toFixed(0)} MB over its base`);
      return `${over.toFixed(0)} MB over its base`;
    },
  ],
  [
    'docker-compose.yml comes up',
    async () => {
      await up();
      return SERVICES.map((service) => `${service}: ${inspect(service).State.Status}`).join(', ');
    },
  ],
  [
    'ports are published on 127.0.0.1 only, whatever HOST and PORT say',
    async () => {
      const published: string[] = [];
      for (const service of SERVICES) {
        const { Ports } = inspect(service).NetworkSettings;
        for (const bindings of Object.values<{ HostIp: string; HostPort: string }[] | null>(Ports ?? {})) {
          for (const { HostIp, HostPort } of bindings ?? []) {
            published.push(`${service} ${HostIp}:${HostPort}`);
            if (HostIp !== '127.0.0.1') throw new Error(`${service} is published on ${HostIp}:${HostPort}`);
          }
        }
      }
      if (!published.includes(`api 127.0.0.1:${port}`))
        throw new Error(`the API is not published: ${published.join(', ')}`);
      return published.join(', ');
    },
  ],
  ...(options.without.includes('temporal-ui')
    ? []
    : [
        [
          "Temporal's UI answers",
          async () => {
            const url = `http://${containerAddress('temporal-ui')}:8080/`;
            return await until(url, async () => ((await answers(url)) ? url : undefined));
          },
        ] satisfies [string, () => Promise<string>],
      ]),
  ['the commands of the README work', runReadme],
  [
    'an evaluation runs, and a signed webhook tells of it',
    async () => {
      for (const [name, model] of Object.entries(PROMPTS))
        await call('POST', '/prompts', { name, template: 'Say {{ word }}.', model });
      const events = ['evaluation.completed'];
      const webhook = await call('POST', '/webhooks', { url: 'http://receiver:8080/', events });
      webhookSecret = webhook.secret;
      const { id } = await call('POST', '/evaluations', evaluationOf(20, 'check/echo'));
      finished = id;
      const evaluation = await ended(id);
      if (evaluation.score !== 1) throw new Error(JSON.stringify(evaluation));
      const delivery = await until('the webhook', async () => (await received()).find(({ body }) => body.includes(id)));
      new Webhook(webhookSecret).verify(delivery.body, delivery.headers);
      return `20 examples, score ${evaluation.score}, signature verified`;
    },
  ],
  [
    'containers that are killed in an evaluation cost nothing but time',
    async () => {
      const { id } = await call('POST', '/evaluations', evaluationOf(120, 'check/slow'));
      for (const service of ['worker', 'api', 'temporal', 'postgres', 'worker']) {
        const before = (await call('GET', `/evaluations/${id}`)).examples_evaluated;
        await until('progress', async () => {
          const now = await call('GET', `/evaluations/${id}`);
          return now.examples_evaluated > before || now.status === 'completed' || undefined;
        });
        run([engine, 'kill', container(service)]);
        run([engine, 'start', container(service)]);
      }
      const evaluation = await ended(id);
      if (evaluation.examples_evaluated !== 120 || evaluation.score !== 1) throw new Error(JSON.stringify(evaluation));
      await until('the webhook', async () => (await received()).find(({ body }) => body.includes(id)));
      return 'worker, API, Temporal, PostgreSQL, worker: 120 of 120 examples';
    },
  ],
  [
    'containers stop within their grace, with the run in flight finished',
    async () => {
      const inFlight = call('POST', '/executions', { draft: { template: 'Hello', model: 'sandbox/slow-500' } });
      await sleep(150);
      const before = Date.now();
      // Not spawnSync, which would block the request above.
      const stopping = spawn(
        composeCommand[0] ?? '',
        [
          ...composeCommand.slice(1),
          '--project-name',
          project,
          '-f',
          'docker-compose.yml',
          '-f',
          override,
          'stop',
          'api',
          'worker',
        ],
        { cwd: root, env, stdio: 'ignore' },
      );
      const [execution] = await Promise.all([inFlight, new Promise((resolve) => stopping.once('close', resolve))]);
      if (execution.status !== 'completed') throw new Error(JSON.stringify(execution));
      const took = ((Date.now() - before) / 1000).toFixed(1);
      for (const service of ['api', 'worker']) {
        const { ExitCode } = inspect(service).State;
        if (ExitCode !== 0) throw new Error(`${service} ended with ${ExitCode}, after ${took} s`);
      }
      return `API and worker ended with 0 after ${took} s`;
    },
  ],
  [
    'the image is replaced in place, and everything is kept',
    async () => {
      run([engine, 'build', '--tag', upgraded, '-'], { stdin: `FROM ${image}\nLABEL upgraded=true\n` });
      writeOverride(upgraded);
      if (engine === 'podman') {
        for (const service of ['migrate', 'api', 'worker']) run(['podman', 'rm', '--force', container(service)]);
      }
      await up();
      for (const service of ['migrate', 'api', 'worker']) {
        if (inspect(service).Config.Labels.upgraded !== 'true') throw new Error(`${service} still has the old image`);
      }
      const { score } = await call('GET', `/evaluations/${finished}`);
      const { id } = await call('POST', '/evaluations', evaluationOf(5, 'check/echo'));
      const again = await ended(id);
      if (score !== 1 || again.score !== 1) throw new Error(`${score}, ${again.score}`);
      await until('the webhook', async () => (await received()).find(({ body }) => body.includes(id)));
      return 'records kept, new runs work';
    },
  ],
  [
    'all containers stop and start again, and everything is kept',
    async () => {
      compose('stop');
      await up();
      const { score } = await call('GET', `/evaluations/${finished}`);
      if (score !== 1) throw new Error(String(score));
      return 'records kept';
    },
  ],
];

function cleanUp() {
  if (options.keep) {
    console.log(`kept: ${engine} project ${project}, API at http://127.0.0.1:${port}, key ${key}`);
    return;
  }
  compose('down', '--volumes', '--timeout', '10');
  for (const name of [upgraded, image]) succeeds(engine, 'rmi', '--force', name);
  rmSync(folder, { recursive: true });
}

console.log(run([engine, '--version']).trim());
let passed = 0;
try {
  for (const [name, step] of steps) {
    const before = Date.now();
    const result = await step();
    passed += 1;
    console.log(`ok    ${name} (${result}; ${((Date.now() - before) / 1000).toFixed(1)} s)`);
  }
} catch (error) {
  console.error(`FAILED ${steps[passed]?.[0]}`);
  console.error(error);
  for (const service of ['postgres', 'temporal', 'migrate', 'api', 'worker']) {
    const { stdout, stderr } = spawnSync(engine, ['logs', '--tail', '30', container(service)], { encoding: 'utf8' });
    console.error(`== the last lines of ${service}\n${stdout}${stderr}`);
  }
  process.exitCode = 1;
} finally {
  cleanUp();
}
console.log(`${passed} passed, ${steps.length - passed} failed`);
