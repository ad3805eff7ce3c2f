// Checks the Helm chart as users install it: npm run check:chart [-- --without containers]
// Lints and renders it with each file of deploy/helm/…/ci, validates the manifests against the Kubernetes schemas, tries invalid values,
// and runs the rendered containers with Docker or Podman: migration, API and worker, with the user, permissions, root file system and
// variables of their manifests. (`podman kube play` needs the host's cgroups and is not used.) Needs Go, which builds Helm and
// kubeconform (minutes the first time), Python, and a container engine for the last part. Everything it creates has its own names and is
// removed at the end.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { globSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import process from 'node:process';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { parseAllDocuments } from 'yaml';
import { checkConsole } from './chart-console.ts';
import { goTool } from './go-tools.ts';
import { pythonWith } from './python.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const chart = 'deploy/helm/prompt-management-service';
const { values: options } = parseArgs({ options: { without: { type: 'string', multiple: true, default: [] } } });
const folder = mkdtempSync(path.join(tmpdir(), 'pms-chart-'));
const report = (line: string) => console.error(line);

/** The part that the checks inspect. */
interface Manifest {
  kind: string;
  metadata: { name: string; annotations?: Record<string, string> };
  data?: Record<string, string>;
  // biome-ignore lint/suspicious/noExplicitAny: differs by kind.
  spec?: any;
}

function tried(program: string, args: string[], input = '') {
  return spawnSync(program, args, { cwd: root, encoding: 'utf8', input, maxBuffer: 2 ** 28, timeout: 900_000 });
}

/** @throws Error with its output */
function run(program: string, args: string[], input = ''): string {
  const { status, stdout, stderr, error } = tried(program, args, input);
  if (error || status !== 0)
    throw new Error(`${program} ${args.join(' ')}: ${error?.message ?? `status ${status}`}\n${stdout}${stderr}`);
  return stdout;
}

const helm = await goTool('helm', report);
const kubeconform = await goTool('kubeconform', report);
const schemas = await schemasOfKubernetes();

/**
 * A folder with the schemas of the newest known Kubernetes, from a package, so that checks need no network. Their references are those of
 * a server, and are made relative.
 */
async function schemasOfKubernetes(): Promise<string> {
  const python = await pythonWith(path.join(root, 'tools/kubernetes-schemas/requirements.txt'));
  const where =
    'import importlib.util, os; print(os.path.dirname(importlib.util.find_spec("kubernetes_validate").origin))';
  const home = path.join(run(python, ['-c', where]).trim(), 'kubernetes-json-schema');
  const [newest = ''] = globSync('*-local-strict', { cwd: home }).sort((a, b) =>
    b.localeCompare(a, 'en', { numeric: true }),
  );
  const target = path.join(folder, 'schemas');
  mkdirSync(target);
  for (const file of readdirSync(path.join(home, newest))) {
    const text = readFileSync(path.join(home, newest, file), 'utf8');
    // Their own ids would become the base of references.
    const { $id: _, ...schema } = JSON.parse(text.replaceAll('"/api/_definitions.json', '"_definitions.json'));
    writeFileSync(path.join(target, file), JSON.stringify(schema));
  }
  return target;
}

const template = (...args: string[]) => run(helm, ['template', 'check', chart, '--namespace', 'prompts', ...args]);
const manifestsOf = (text: string) =>
  parseAllDocuments(text)
    .map((document) => document.toJS() as Manifest | null)
    .filter((manifest) => manifest !== null);
const minimal = ['--values', `${chart}/ci/minimal.yaml`];

/** Rules for every pod, whatever the values. */
function checkPods(manifests: Manifest[]): number {
  const pods = manifests.filter(({ spec }) => spec?.template?.spec?.containers);
  for (const { kind, metadata, spec } of pods) {
    const pod = spec.template.spec;
    const of = `${kind} ${metadata.name}`;
    assert(pod.automountServiceAccountToken === false, `${of} mounts a token of its account`);
    assert(pod.securityContext.runAsNonRoot === true, `${of} may run as root`);
    assert(pod.securityContext.seccompProfile.type === 'RuntimeDefault', `${of} has no seccomp profile`);
    for (const container of pod.containers) {
      assert(container.securityContext.readOnlyRootFilesystem === true, `${of} can write its root`);
      assert(container.securityContext.allowPrivilegeEscalation === false, `${of} can get more rights`);
      assert(container.securityContext.capabilities.drop.includes('ALL'), `${of} keeps capabilities`);
      assert(container.resources.requests && container.resources.limits.memory, `${of} has no bounds`);
      // Settings are plain variables only for the migration, which runs before the ConfigMap exists.
      const inPlain = (container.env ?? []).map(({ name }: { name: string }) => name);
      assert(
        !inPlain.some((name: string) =>
          /(API_KEY|ENCRYPTION_KEY|PAYLOAD_KEYS|SECRET|TOKEN|DATABASE_URL|SMTP_URL)$/.test(name),
        ),
        `${of} has secrets in plain`,
      );
    }
    if (kind !== 'Deployment') continue;
    for (const probe of ['startupProbe', 'livenessProbe', 'readinessProbe'])
      assert(pod.containers[0][probe]?.httpGet.port === 'metrics', `${of} has no ${probe} on the port of metrics`);
    const settings = manifests.find((each) => each.kind === 'ConfigMap')?.data ?? {};
    const grace = Number.parseInt(settings['SHUTDOWN_GRACE'] ?? '', 10);
    assert(pod.terminationGracePeriodSeconds >= grace + 10, `${of} is killed before SHUTDOWN_GRACE`);
  }
  return pods.length;
}

const WRONG = [
  ['existingSecret=', 'existingSecret'],
  ['api.replica=3', 'replica'],
  ['settings.DATABASE_URL=postgresql://a', 'it is a secret'],
  ['settings.OPENAI_API_KEY=sk', 'it is a secret'],
  ['settings.PORT=80', 'api.service.port'],
  ['temporal.address=temporal', 'temporal'],
  ['image.pullPolicy=Sometimes', 'pullPolicy'],
  ['shutdownGraceSeconds=long', 'shutdownGraceSeconds'],
  ['api.ingress.enabled=true', 'TRUST_PROXY'],
  ['worker.keda.enabled=true', 'serverAddress'],
] as const;

const project = `pms-chart-${process.pid}`;
const image = `localhost/${project}`;
const key = randomBytes(24).toString('hex');
const engine = ['docker', 'podman'].find((each) => tried(each, ['info']).status === 0) ?? '';
const inEngine = (...args: string[]) => run(engine, args);

async function until<T>(what: string, condition: () => Promise<T | undefined | false> | T | undefined | false) {
  const end = Date.now() + 180_000;
  while (Date.now() < end) {
    const value = await Promise.resolve()
      .then(condition)
      .catch(() => undefined);
    if (value) return value;
    await sleep(500);
  }
  throw new Error(`not within 180 s: ${what}`);
}

const nameOf = (component: string) => `${project}-${component}`;
const inspect = (component: string) => JSON.parse(inEngine('inspect', nameOf(component)))[0];
const addressOf = (component: string) =>
  Object.values<{ IPAddress: string }>(inspect(component).NetworkSettings.Networks)[0]?.IPAddress ?? '';

/** Starts the container of a job or a deployment as its manifest specifies. */
function start(manifests: Manifest[], component: string): void {
  const manifest = manifests.find(
    ({ kind, metadata }) =>
      kind !== 'Service' && metadata.name.endsWith(`-${component}`) && kind !== 'PodDisruptionBudget',
  );
  const pod = manifest?.spec.template.spec;
  const [container] = pod.containers;
  const variables = container.envFrom.map((from: { configMapRef?: object }) =>
    from.configMapRef ? manifests.find(({ kind }) => kind === 'ConfigMap')?.data : SECRETS,
  );
  const { readOnlyRootFilesystem, allowPrivilegeEscalation, capabilities } = container.securityContext;
  inEngine(
    'run',
    '--detach',
    `--name=${nameOf(component)}`,
    `--network=${project}`,
    `--user=${pod.securityContext.runAsUser}:${pod.securityContext.runAsGroup}`,
    ...(readOnlyRootFilesystem ? ['--read-only', '--read-only-tmpfs=false'] : []),
    ...(allowPrivilegeEscalation ? [] : ['--security-opt', 'no-new-privileges']),
    ...capabilities.drop.flatMap((each: string) => ['--cap-drop', each]),
    ...container.volumeMounts.flatMap(({ mountPath }: { mountPath: string }) => ['--tmpfs', `${mountPath}:mode=1777`]),
    ...Object.entries<string>(Object.assign({}, ...variables)).flatMap(([name, value]) => [
      '--env',
      `${name}=${value}`,
    ]),
    `--entrypoint=${container.command[0]}`,
    container.image,
    ...container.command.slice(1),
  );
}

const server = (name: string, args: string[], of: string) =>
  inEngine('run', '--detach', '--name', nameOf(name), '--network', project, '--network-alias', name, ...args, of);

async function startServers(): Promise<void> {
  // An internal network: nothing from outside may be needed.
  inEngine('network', 'create', '--internal', project);
  const as = ['--env', 'POSTGRES_USER=pms', '--env', 'POSTGRES_PASSWORD=pms', '--env', 'POSTGRES_DB=pms'];
  const initdb = 'POSTGRES_INITDB_ARGS=--encoding=UTF8 --locale=C --locale-provider=builtin --builtin-locale=C.UTF-8';
  server('postgres', [...as, '--env', initdb], 'postgres:18');
  await until(
    'PostgreSQL answers',
    () => tried(engine, ['exec', nameOf('postgres'), 'pg_isready', '--host=127.0.0.1', '--username=pms']).status === 0,
  );
  const env = {
    DB: 'postgres12',
    DB_PORT: '5432',
    POSTGRES_SEEDS: 'postgres',
    POSTGRES_USER: 'pms',
    POSTGRES_PWD: 'pms',
    DEFAULT_NAMESPACE: 'default',
    SKIP_ADD_CUSTOM_SEARCH_ATTRIBUTES: 'true',
  };
  server(
    'temporal',
    Object.entries(env).flatMap(([name, value]) => ['--env', `${name}=${value}`]),
    'temporalio/auto-setup:1.29.1',
  );
  await until(
    'Temporal answers',
    () =>
      tried(engine, [
        'exec',
        nameOf('temporal'),
        'temporal',
        'operator',
        'namespace',
        'describe',
        '--namespace',
        'default',
        '--address',
        'temporal:7233',
      ]).status === 0,
  );
}

/** The secret that `existingSecret` names. */
const SECRETS = {
  DATABASE_URL: 'postgresql://pms:pms@postgres:5432/pms',
  ENCRYPTION_KEY: randomBytes(32).toString('base64'),
  BOOTSTRAP_API_KEY: key,
};

async function runPrompt(): Promise<string> {
  const origin = `http://${addressOf('api')}`;
  for (const port of [9464, 3000])
    await until(`the API is ready at ${port}`, async () => (await fetch(`${origin}:${port}/readyz`)).ok);
  const call = async (route: string, body: object) => {
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
    const response = await fetch(`${origin}:3000/v1${route}`, { method: 'POST', headers, body: JSON.stringify(body) });
    if (!response.ok) throw new Error(`POST ${route}: ${response.status} ${await response.text()}`);
    return response.json() as Promise<{ status?: string; output?: string }>;
  };
  await call('/prompts', { name: 'greeting', template: 'Greet {{ name }}.', model: 'sandbox/echo' });
  const { status, output } = await call('/executions', { prompt_name: 'greeting', variables: { name: 'Ada' } });
  assert(status === 'completed' && output === 'Greet Ada.', `${status}: ${output}`);
  await until('the worker is ready', async () => (await fetch(`http://${addressOf('worker')}:9464/readyz`)).ok);
  return `"${output}"`;
}

let manifests: Manifest[] = [];
const containers: [string, () => Promise<string> | string][] = [
  [
    'the migration runs, as a user without rights on a root that it can not write',
    async () => {
      inEngine('build', '--tag', `${image}:check`, root);
      manifests = manifestsOf(template(...minimal, '--set', `image.repository=${image},image.tag=check`));
      await startServers();
      start(manifests, 'migration');
      await until('its end', () => inspect('migration').State.Status === 'exited');
      const { ExitCode } = inspect('migration').State;
      if (ExitCode !== 0) throw new Error(`it ended with ${ExitCode}: ${inEngine('logs', nameOf('migration'))}`);
      return 'ended with 0';
    },
  ],
  [
    'API and worker become ready, and run a prompt',
    async () => {
      for (const component of ['api', 'worker']) start(manifests, component);
      return await runPrompt();
    },
  ],
  [
    'the console and the documentation open in a browser, and need nothing from elsewhere',
    async () => `${await checkConsole(addressOf('api'), key)} files`,
  ],
  [
    'nothing in them can be written but /tmp, and nobody is root',
    () => {
      for (const component of ['api', 'worker']) {
        const name = nameOf(component);
        assert(inEngine('exec', name, 'id', '-u').trim() === '1000', `${component} runs as another user`);
        assert(tried(engine, ['exec', name, 'touch', '/app/x']).status !== 0, `${component} can write /app`);
        inEngine('exec', name, 'touch', '/tmp/x');
      }
      return 'uid 1000';
    },
  ],
  [
    'they stop within their grace',
    () => {
      const before = Date.now();
      for (const component of ['api', 'worker']) {
        const name = nameOf(component);
        inEngine('stop', '--time', '140', name);
        const { ExitCode } = inspect(component).State;
        assert(ExitCode === 0, `${component} ended with ${ExitCode}`);
      }
      return `${((Date.now() - before) / 1000).toFixed(1)} s for both`;
    },
  ],
];

const files = globSync(`${chart}/ci/*.yaml`, { cwd: root }).sort();
const steps: [string, () => Promise<string> | string][] = [
  [
    'helm lint --strict',
    () => {
      for (const file of files) run(helm, ['lint', '--strict', chart, '--values', file]);
      return `${files.length} files of values`;
    },
  ],
  [
    'the manifests are valid for Kubernetes, and pods are as they should be',
    () => {
      let count = 0;
      let pods = 0;
      for (const file of files) {
        const text = template('--values', file);
        const rendered = manifestsOf(text);
        // Resources of KEDA and of the Prometheus operator have no schema here.
        const args = [
          '-strict',
          '-summary',
          '-schema-location',
          `${schemas}/{{.ResourceKind}}{{.KindSuffix}}.json`,
          '-skip',
          'ScaledObject,TriggerAuthentication,PodMonitor,PrometheusRule',
          '-',
        ];
        run(kubeconform, args, text);
        assert(!rendered.some(({ kind }) => kind === 'Secret'), 'the chart makes a secret');
        count += rendered.length;
        pods += checkPods(rendered);
      }
      return `${count} resources, ${pods} with pods`;
    },
  ],
  [
    'wrong values are refused, and the reason names them',
    () => {
      for (const [wrong, reason] of WRONG) {
        const { status, stderr } = tried(helm, ['template', 'check', chart, ...minimal, '--set', wrong]);
        assert(status !== 0, `${wrong} was taken`);
        assert(stderr.includes(reason), `${wrong}: ${stderr}`);
      }
      return `${WRONG.length} values`;
    },
  ],
  [
    'the package holds the alert rules',
    () => {
      run(helm, ['package', chart, '--destination', folder]);
      const [file = ''] = globSync('*.tgz', { cwd: folder });
      const text = run(helm, [
        'template',
        'check',
        path.join(folder, file),
        ...minimal,
        '--set',
        'monitoring.prometheusRule.enabled=true',
      ]);
      const rules = manifestsOf(text).find(({ kind }) => kind === 'PrometheusRule');
      assert(rules?.spec.groups.length > 0, 'there are none');
      return `${file}: ${rules?.spec.groups.flatMap(({ rules: all }: { rules: object[] }) => all).length} alerts`;
    },
  ],
  ...(options.without.includes('containers') ? [] : containers),
];

let failed = 0;
try {
  for (const [index, [name, step]] of steps.entries()) {
    try {
      console.log(`${index + 1}. ${name}: ${await step()}`);
    } catch (error) {
      failed += 1;
      console.log(`${index + 1}. ${name}: FAILED\n${error instanceof Error ? error.message : String(error)}`);
      if (containers.some(([each]) => each === name)) break;
    }
  }
} finally {
  if (!options.without.includes('containers')) {
    for (const name of ['api', 'worker', 'migration', 'temporal', 'postgres'])
      tried(engine, ['rm', '--force', '--volumes', nameOf(name)]);
    tried(engine, ['network', 'rm', project]);
    tried(engine, ['rmi', '--force', `${image}:check`]);
  }
  rmSync(folder, { recursive: true, force: true });
}
console.log(`${steps.length - failed} passed, ${failed} failed`);
process.exitCode = failed === 0 ? 0 : 1;
