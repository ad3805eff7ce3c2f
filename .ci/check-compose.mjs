// Checks docker-compose.yml: its syntax with Docker Compose if it is installed, else the mistakes that can be seen
// without it; the addresses that it publishes; and the arguments of initdb, with the real program. What needs containers
// is checked by `npm run check:containers`.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import yaml from 'js-yaml';
import { findPostgres, postgresCommand, postgresEnv } from '../src/embedded/postgres/postgres-program.ts';

const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '..');
const file = path.join(root, 'docker-compose.yml');
const REQUIRED = ['ENCRYPTION_KEY', 'BOOTSTRAP_API_KEY'];

function compose(env) {
  return spawnSync('docker', ['compose', '--file', file, 'config', '--quiet'], { encoding: 'utf8', env });
}

function problemsByCompose() {
  const problems = [];
  const complete = { ...process.env, ...Object.fromEntries(REQUIRED.map((name) => [name, 'set'])) };
  const { status, stderr } = compose(complete);
  if (status !== 0) problems.push(stderr.trim());
  return problems;
}

function problemsByReading() {
  const text = readFileSync(file, 'utf8');
  const { services, volumes = {} } = yaml.load(text);
  const problems = REQUIRED.filter((name) => !text.includes(`\${${name}:?`)).map((name) => `${name} is not required`);
  for (const [name, service] of Object.entries(services)) {
    const wrong = (what) => problems.push(`service ${name}: ${what}`);
    if (!service.image && !service.build) wrong('has neither an image nor a build');
    if (service.image && !service.build && !/:\d/.test(service.image)) wrong('its image has no pinned version');
    for (const [other, { condition }] of Object.entries(service.depends_on ?? {})) {
      const needed = services[other];
      if (!needed) wrong(`depends on ${other}, which is not there`);
      else if (condition === 'service_healthy' && !needed.healthcheck?.test) wrong(`${other} has no health check`);
      else if (condition === 'service_completed_successfully' && needed.restart !== 'no') wrong(`${other} never ends`);
    }
    for (const volume of service.volumes ?? []) {
      const [source] = volume.split(':');
      if (!/^[./]/.test(source) && !(source in volumes)) wrong(`volume ${source} is not declared`);
    }
    for (const word of [...(service.command ?? []), ...(service.healthcheck?.test ?? [])]) {
      if (typeof word !== 'string') wrong(`${JSON.stringify(word)} is no string: quote it`);
      else if (word.endsWith('.ts') && !existsSync(path.join(root, word))) wrong(`${word} does not exist`);
    }
  }
  return problems;
}

/** Ports are published on the loopback address by default, and through variables that nothing else sets. */
function problemsOfPorts() {
  const { services } = yaml.load(readFileSync(file, 'utf8'));
  const problems = [];
  for (const [name, { ports = [] }] of Object.entries(services)) {
    for (const port of ports) {
      if (!/^(127\.0\.0\.1|\$\{PMS_\w+:-127\.0\.0\.1\}):/.test(port)) {
        problems.push(`service ${name}: ${port} is not published on 127.0.0.1 by default`);
      }
    }
  }
  return problems;
}

/** initdb accepts the arguments, and the cluster has the order and the case rules of the one under npm start. */
async function problemsOfInitdb() {
  const { services } = yaml.load(readFileSync(file, 'utf8'));
  const folder = mkdtempSync(path.join(tmpdir(), 'pms-compose-'));
  try {
    const given = services.postgres.environment.POSTGRES_INITDB_ARGS.split(' ');
    const args = [`--pgdata=${path.join(folder, 'data')}`, '--username=pms', '--auth=trust', '--no-sync', ...given];
    const [program, ...rest] = await postgresCommand((await findPostgres()).initdb, args);
    const { status, stdout, stderr } = spawnSync(program, rest, { encoding: 'utf8', env: postgresEnv() });
    if (status !== 0) return [`POSTGRES_INITDB_ARGS: ${stderr.trim()}`];
    // C.UTF-8 implies UTF8: initdb refuses any other encoding with it.
    return ['locale provider:   builtin', 'default collation: C.UTF-8']
      .filter((line) => !stdout.includes(line))
      .map((line) => `POSTGRES_INITDB_ARGS: initdb did not report "${line}":\n${stdout}`);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const hasCompose = spawnSync('docker', ['compose', 'version'], { stdio: 'ignore' }).status === 0;
const problems = [
  ...(hasCompose ? problemsByCompose() : problemsByReading()),
  ...problemsOfPorts(),
  ...(await problemsOfInitdb()),
];
for (const problem of problems) console.error(problem);
if (problems.length > 0) process.exitCode = 1;
else console.log(`docker-compose.yml is valid (${hasCompose ? 'Docker Compose' : 'read without Docker Compose'}).`);
