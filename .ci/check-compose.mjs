// Checks docker-compose.yml: with Docker Compose where there is one, else the mistakes that can be seen without it.
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import yaml from 'js-yaml';

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
    for (const word of service.command ?? []) {
      if (word.endsWith('.ts') && !existsSync(path.join(root, word))) wrong(`${word} does not exist`);
    }
  }
  return problems;
}

const hasCompose = spawnSync('docker', ['compose', 'version'], { stdio: 'ignore' }).status === 0;
const problems = hasCompose ? problemsByCompose() : problemsByReading();
for (const problem of problems) console.error(problem);
if (problems.length > 0) process.exitCode = 1;
else console.log(`docker-compose.yml is valid (${hasCompose ? 'Docker Compose' : 'read without Docker Compose'}).`);
