import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import process from 'node:process';
import { pythonWith } from '../../scripts/python.ts';
import { parseSettings } from '../../src/config.ts';
import { ensureTemporal } from '../../src/embedded/temporal/temporal-binary.ts';
import { serveMetrics } from '../../src/metrics.ts';
import { createOtherWorkspace } from '../api/workspace.ts';
import { preamble } from '../support/guides.ts';
import { freePort } from '../support/identity/free-port.ts';
import { PROJECT } from '../support/processes.ts';
import { type AllStandIns, startAllStandIns } from '../support/providers/all.ts';
import { TEST_KEY } from '../support/providers/models.ts';
import { type Receiver, startReceiver } from '../support/receiver.ts';
import { type Call, startTestService, type TestService } from '../support/service.ts';

/** The result of a block. */
export interface Ran {
  status: number;
  stdout: string;
  stderr: string;
}

/** A reader of one page, with a separate workspace and folder. */
export interface Reader {
  /** A server that answers any request. */
  others: string;
  service: TestService;
  call: Call;
  folder: string;
  write(file: string, content: string): Promise<void>;
  /** A block with the hosts, the key and the ids of this reader. */
  own(code: string): string;
  sh(code: string): Promise<Ran>;
  ts(code: string): Promise<Ran>;
  python(code: string, requirements: 'dev' | 'migrating'): Promise<Ran>;
  /** Applies the settings in a block of `NAME=value` lines. @throws Error if the service rejects a value */
  settings(code: string): Promise<void>;
}

const fixtures = path.join(PROJECT, 'test/cli/importers/fixtures');
/** Responses of other products' services: the files that the tests of the importers read. */
const OTHERS: readonly [path: RegExp, file: string][] = [
  [/^\/v1\/prompt\?/, 'braintrust/prompts.json'],
  [/^\/v1\/dataset\//, 'braintrust/events.json'],
  [/^\/v1\/evals\/[^/]+\/runs/, 'openai-evals/run.json'],
  [/^\/v1\/evals\//, 'openai-evals/eval.json'],
  [/^\/v1\/files\//, 'openai-evals/items.jsonl'],
  [/^\/api\/public\/v2\/prompts\?/, 'langfuse/list.json'],
  [/\/commits\//, 'langsmith/helper.json'],
];

async function answerForOthers(url: string): Promise<string> {
  const file = OTHERS.find(([pattern]) => pattern.test(url))?.[1];
  if (file !== undefined) return readFile(path.join(fixtures, file), 'utf8');
  const { pathname, searchParams } = new URL(url, 'http://localhost');
  if (pathname.startsWith('/api/public/v2/prompts/')) {
    const name = decodeURIComponent(pathname.slice('/api/public/v2/prompts/'.length));
    const prompts: { name: string; version: number }[] = JSON.parse(
      await readFile(path.join(fixtures, 'langfuse/prompts.json'), 'utf8'),
    );
    const found = prompts.find((each) => each.name === name && String(each.version) === searchParams.get('version'));
    return JSON.stringify(found ?? prompts[0]);
  }
  if (!url.startsWith('/prompt-templates/')) return '{"score": 1, "objects": [], "data": []}';
  const { items } = JSON.parse(await readFile(path.join(fixtures, 'promptlayer/templates.json'), 'utf8'));
  return JSON.stringify(items[0]);
}

const NEWEST = `import pg from 'pg';
const tables = { exec: 'executions', eval: 'evaluations', wh: 'webhooks', dlv: 'deliveries', key: 'api_keys', item: 'queue_items' };
const [kind, older = '0'] = process.argv.slice(2);
const client = new pg.Client({ connectionString: process.env.DATABASE_URL });
await client.connect();
// A test event is not delivered again.
const where = kind === 'dlv' ? \`where "trigger" = 'event'\` : '';
const { rows } = await client.query(\`select id from \${tables[kind]} \${where} order by id desc limit 1 offset \${older}\`);
await client.end();
if (rows.length === 0) throw new Error('There is no ' + kind);
console.log(kind + '_' + rows[0].id);
`;
const PSQL = `import pg from 'pg';
const [url, , statement] = process.argv.slice(2);
const client = new pg.Client({ connectionString: url });
await client.connect();
console.table((await client.query(statement)).rows);
await client.end();
`;

/** Stops programs that never end, as with Ctrl-C. */
const UNTIL_STOPPED = 'until_stopped() { timeout --preserve-status -s INT 6 "$@" || [ $? = 130 ]; }\n';

/** The service, its providers, and a reader's other tools: programs, other products, a receiving host. */
export async function startReaders() {
  const [standIns, receiver, metricsPort]: [AllStandIns, Receiver, number] = await Promise.all([
    startAllStandIns(),
    startReceiver(async (_request, response, { url = '' }) => {
      response.setHeader('Content-Type', 'application/json').end(await answerForOthers(url));
    }),
    freePort(),
  ]);
  const service = await startTestService({
    OPENAI_API_KEY: TEST_KEY,
    OPENAI_BASE_URL: standIns.of('openai/m').baseUrl,
    ANTHROPIC_API_KEY: TEST_KEY,
    ANTHROPIC_BASE_URL: standIns.of('anthropic/m').baseUrl,
    METRICS_PORT: String(metricsPort),
  });
  const metrics = await serveMetrics(service.dependencies);
  // Inside the project, whose packages the samples import.
  await mkdir(path.join(PROJECT, '.cache'), { recursive: true });
  const inProject = await mkdtemp(path.join(PROJECT, '.cache/guides-'));
  const root = await mkdtemp(path.join(tmpdir(), 'pms-guides-'));
  const bin = path.join(root, 'bin');
  await mkdir(bin);
  for (const [name, source] of Object.entries({ newest: NEWEST, psql: PSQL }))
    await writeFile(path.join(inProject, `${name}.mjs`), source);
  const node = `"${process.execPath}"`;
  const pms = `${node} --conditions=pms-source "${path.join(PROJECT, 'cli/src/main.ts')}"`;
  const programs = {
    pms: `exec ${pms} "$@"`,
    npx: `program=$1; shift; case $program in pms) exec ${pms} "$@";; node) exec ${node} "$@";; esac; exit 127`,
    temporal: `exec "${await ensureTemporal({ report: () => {} })}" "$@"`,
    psql: `exec ${node} "${path.join(inProject, 'psql.mjs')}" "$@"`,
    newest: `exec ${node} "${path.join(inProject, 'newest.mjs')}" "$@"`,
    // The service's folder is the checkout.
    npm: `cd "${PROJECT}" && PATH=\${PATH#*:} exec npm "$@"`,
  };
  for (const [name, script] of Object.entries(programs)) {
    await writeFile(path.join(bin, name), `#!/bin/bash\n${script}\n`);
    await chmod(path.join(bin, name), 0o755);
  }

  let count = 0;
  async function reader(): Promise<Reader> {
    const { key, call } = await createOtherWorkspace(service, `reader-${++count}`);
    const folder = path.join(root, `reader-${count}`);
    await mkdir(path.join(folder, '.data'), { recursive: true });
    const write = async (file: string, content: string) => {
      await mkdir(path.dirname(path.join(folder, file)), { recursive: true });
      await writeFile(path.join(folder, file), content);
    };
    await write('.data/first-api-key', `${key}\n`);
    const others = new URL(receiver.url).origin;
    const env = {
      PATH: `${bin}:${path.join(PROJECT, 'node_modules/.bin')}:${process.env['PATH']}`,
      HOME: process.env['HOME'] ?? '',
      NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'] ?? '',
      PMS_BASE_URL: service.origin,
      PMS_API_KEY: key,
      PMS_CONFIG_DIR: path.join(folder, '.config'),
      PYTHONPATH: path.join(PROJECT, 'clients/python/src'),
      PYTHONDONTWRITEBYTECODE: '1',
      DATABASE_URL: service.databaseUrl,
      TEMPORAL_ADDRESS: process.env['TEST_TEMPORAL_ADDRESS'] ?? '',
      ENCRYPTION_KEY: Buffer.alloc(32, 1).toString('base64'),
      LANGSMITH_ENDPOINT: others,
      LANGSMITH_API_KEY: 'x',
      PROMPTLAYER_BASE_URL: others,
      PROMPTLAYER_API_KEY: 'x',
      ...Object.fromEntries(
        ['BRAINTRUST_API_KEY', 'OPENAI_API_KEY', 'DATASET', 'EVAL', 'FILE'].map((name) => [name, 'x']),
      ),
    };

    /** A block with the hosts, the key and the ids of this reader. */
    function own(code: string): string {
      const replaced = code
        .replaceAll('postgresql://pms:secret@db.internal:5432/pms', service.databaseUrl)
        .replaceAll('temporal.internal:7233', env.TEMPORAL_ADDRESS)
        .replaceAll('worker-1.internal:9464', `127.0.0.1:${metricsPort}`)
        .replaceAll(/http:\/\/127\.0\.0\.1:3000|https:\/\/prompts\.example\.com/g, service.origin)
        .replaceAll(/https:\/\/(?:[\w-]+\.)*(?:example\.com|braintrust\.dev|openai\.com|langfuse\.com)/g, others)
        .replaceAll('hooks.example.com', 'localhost')
        .replaceAll('pms_…', key)
        .replaceAll(/evaluations\/(?:NAME|…)\.json/g, '"$(find evaluations -name "*.json" | sort | head -n 1)"');
      return replaced.replaceAll(/\b(exec|eval|wh|dlv|key|item)_…/g, (_id, kind: string, index: number) => {
        const before = replaced.slice(0, index);
        const isQuoted = (before.match(/'/g)?.length ?? 0) % 2 === 1;
        // The second of two in a list is another one.
        const newest = `$(newest ${kind}${before.endsWith(`["${kind}_…", "`) ? ' 1' : ''})`;
        return isQuoted ? `'"${newest}"'` : newest;
      });
    }

    /** Settings of the page so far. */
    let settings = '';

    const run = (program: string, args: readonly string[], input = '') =>
      new Promise<Ran>((resolve) => {
        const options = { cwd: folder, env, maxBuffer: 1e8, timeout: 240_000 };
        const child = execFile(program, args, options, (error, stdout, stderr) =>
          resolve({ status: error === null ? 0 : Number(error.code ?? -1), stdout, stderr }),
        );
        child.stdin?.on('error', () => {}).end(input);
      });

    return {
      others,
      service,
      call,
      folder,
      write,
      own,
      /** Variables of a block persist for the next one, as in a terminal. The key is typed. */
      sh(code) {
        const script = own(code)
          .replaceAll('curl -s', 'curl -sS --fail-with-body -w "\\n"')
          .replaceAll(/^pms (listen|logs --follow)/gm, 'until_stopped pms $1');
        const state = path.join(folder, '.set');
        const before = existsSync(state) ? `. ${state}\n` : own(preamble('sh'));
        // A search that finds nothing is an answer, too.
        const grep = 'grep() { command grep "$@" || [ $? = 1 ]; }\n';
        const whole = `${grep}set -a\n${UNTIL_STOPPED}${before}trap 'export -p > ${state}' EXIT\n${script}`;
        return run('bash', ['--norc', '-euo', 'pipefail', '-c', whole], key);
      },
      async ts(code) {
        const file = path.join(inProject, `sample-${count}.ts`);
        await writeFile(file, own(code));
        return run(process.execPath, ['--conditions=pms-source', file]);
      },
      async python(code, requirements) {
        const file = path.join(PROJECT, `clients/python/requirements-${requirements}.txt`);
        return run(await pythonWith(file, requirements === 'dev' ? [3, 10] : [3, 11]), ['-c', own(code)]);
      },
      async settings(code) {
        settings += code.replaceAll('…', 'x');
        const names = new Set([...settings.matchAll(/^([A-Z_]+)=/gm)].map(([, name]) => name));
        const { stdout } = await run('bash', ['-euc', `set -a\n${settings}\nenv -0`]);
        const pairs = stdout
          .split('\0')
          .map((each) => [each.slice(0, each.indexOf('=')), each.slice(each.indexOf('=') + 1)]);
        parseSettings(Object.fromEntries(pairs.filter(([name]) => names.has(name))));
      },
    };
  }

  return {
    reader,
    async stop() {
      await metrics.close(0);
      await service.stop();
      await standIns.close();
      await receiver.close();
      await Promise.all([inProject, root].map((each) => rm(each, { recursive: true })));
    },
  };
}
