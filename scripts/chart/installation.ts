import { randomBytes } from 'node:crypto';
import { until } from '../../test/support/wait-for.ts';
import { checkConsole } from './console.ts';
import { type Manifest, manifestsOf, template, workloadOf } from './manifests.ts';
import { createPodman, type Pod } from './pods.ts';
import { assert, run, tried } from './programs.ts';

const IN_FLIGHT = 12;
/** Long enough for the pods to be asked to stop meanwhile, on a busy machine, too. */
const SLOW_MODEL = 'sandbox/slow-8000';

const POSTGRES = { POSTGRES_USER: 'pms', POSTGRES_PASSWORD: 'pms', POSTGRES_DB: 'pms' };
const INITDB = '--encoding=UTF8 --locale=C --locale-provider=builtin --builtin-locale=C.UTF-8';
const TEMPORAL = {
  DB: 'postgres12',
  DB_PORT: '5432',
  POSTGRES_SEEDS: 'postgres',
  POSTGRES_USER: 'pms',
  POSTGRES_PWD: 'pms',
  DEFAULT_NAMESPACE: 'default',
  SKIP_ADD_CUSTOM_SEARCH_ATTRIBUTES: 'true',
};
const DESCRIBE = [
  'temporal',
  'operator',
  'namespace',
  'describe',
  '--namespace',
  'default',
  '--address',
  'temporal:7233',
];

type Step = [string, () => Promise<string> | string];

/** The chart and the image, as files: what is carried to a place without the internet. */
export interface Carried {
  /** The packed chart. */
  chart: string;
  /** An archive with the image. */
  image: string;
}

/** The installation of the chart that the steps after each other make, use, and take down. */
export interface Installation {
  steps: Step[];
  remove(): void;
}

/** @param carried where the files are, once the steps before have made them */
export function createInstallation(carried: () => Carried): Installation {
  const project = `pms-chart-${process.pid}`;
  const repository = `localhost/${project}`;
  const key = randomBytes(24).toString('hex');
  const secret = {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: 'pms' },
    data: encoded({
      DATABASE_URL: 'postgresql://pms:pms@postgres:5432/pms',
      ENCRYPTION_KEY: randomBytes(32).toString('base64'),
      BOOTSTRAP_API_KEY: key,
      // Goes with MAIL_FROM, which is no secret: each process must have both.
      SMTP_URL: 'smtp://127.0.0.1:25',
    }),
  };
  const podman = createPodman(project);
  const manifests = (release: string): Manifest[] => {
    const set = {
      existingSecret: 'pms',
      'temporal.address': 'temporal:7233',
      'image.repository': repository,
      'image.tag': 'carried',
      'settings.MAIL_FROM': 'prompts@example.com',
    };
    const options = Object.entries(set).flatMap(([name, value]) => ['--set-string', `${name}=${value}`]);
    return manifestsOf(template(options, { from: carried().chart, release }));
  };
  /** One pod of a kind of process. */
  function start(release: string, component: string): { pod: Pod; manifest: Manifest } {
    const all = manifests(release);
    const manifest = workloadOf(all, component);
    const configMap = all.find(({ kind }) => kind === 'ConfigMap');
    return { pod: podman.play(manifest, [secret, ...(component === 'migration' ? [] : [configMap ?? {}])]), manifest };
  }
  /** The pods of a release, once their own probes say that they are ready. */
  async function startPair(release: string) {
    const pair = { api: start(release, 'api'), worker: start(release, 'worker') };
    for (const each of [pair.api, pair.worker]) await ready(each);
    return pair;
  }
  const call = (pod: Pod) => createCall(`http://${pod.address}:3000/v1`, key);
  const running = new Map<string, Awaited<ReturnType<typeof startPair>>>();
  const pair = (release: string) => {
    const found = running.get(release);
    if (found === undefined) throw new Error(`${release} does not run`);
    return found;
  };

  const steps: Step[] = [
    [
      'the image is loaded from its archive, and nothing else is needed: the network has no way out',
      async () => {
        const [, name = ''] =
          /Loaded image(?:\(s\))?: (\S+)/.exec(run('podman', ['load', '--input', carried().image])) ?? [];
        run('podman', ['tag', name, `${repository}:carried`]);
        podman.createNetwork();
        const postgres = podman.serve('postgres', 'postgres:18', { ...POSTGRES, POSTGRES_INITDB_ARGS: INITDB });
        await until('PostgreSQL answers', async () =>
          postgres.tries('pg_isready', '--host=127.0.0.1', '--username=pms', '--dbname=pms'),
        );
        const temporal = podman.serve('temporal', 'temporalio/auto-setup:1.29.1', TEMPORAL);
        await until('Temporal answers', async () => temporal.tries(...DESCRIBE));
        return name;
      },
    ],
    [
      'the migration runs to its end',
      async () => {
        const { code, output } = await start('prompts', 'migration').pod.ended();
        assert(code === 0, `it ended with ${code}: ${output}`);
        return output.trim().slice(0, 80);
      },
    ],
    [
      'API and worker become ready by their own probes',
      async () => {
        running.set('prompts', await startPair('prompts'));
        return 'podman kube play';
      },
    ],
    [
      'nothing in them can be written but /tmp, nobody is root, and no route leads out',
      () => {
        const { api, worker } = pair('prompts');
        for (const { pod, manifest } of [api, worker]) {
          const { name } = manifest.metadata;
          assert(pod.exec('id', '-u').trim() === '1000', `${name} runs as another user`);
          assert(!pod.tries('touch', '/app/x'), `${name} can write /app`);
          assert(pod.exec('grep', 'CapEff', '/proc/self/status').endsWith(`${'0'.repeat(16)}\n`), `${name} has rights`);
          assert(!/^\w+\t0{8}\t/m.test(pod.exec('cat', '/proc/net/route')), `${name} has a way out`);
          pod.exec('touch', '/tmp/x');
        }
        return 'uid 1000, no capabilities';
      },
    ],
    [
      'a prompt is run',
      async () => {
        const post = call(pair('prompts').api.pod);
        await post('/prompts', { name: 'greeting', template: 'Greet {{ name }}.', model: 'sandbox/echo' });
        const { status, output } = await post('/executions', { prompt_name: 'greeting', variables: { name: 'Ada' } });
        assert(status === 'completed' && output === 'Greet Ada.', `${status}: ${output}`);
        return `"${output}"`;
      },
    ],
    [
      'the console works, and asks for nothing from elsewhere',
      async () => `${await checkConsole(`http://${pair('prompts').api.pod.address}:3000`, key)} files`,
    ],
    [
      'a first key is made as the notes of the chart say',
      () => {
        const { pod } = pair('prompts').api;
        const admin = ['node', 'src/admin/main.ts', '--json'];
        pod.exec(...admin, 'workspace', 'create', 'acme', '--owner', 'ada@example.com');
        const made = pod.exec(...admin, 'key', 'create', '--workspace', 'acme', '--name', 'first', '--scopes', 'admin');
        return Object.keys(JSON.parse(made)).join(', ');
      },
    ],
    [
      'pods are replaced while prompts run: none fails, and the old ones end within their grace',
      async () => {
        running.set('next', await startPair('next'));
        const [old, next] = [pair('prompts'), pair('next')];
        const draft = { template: 'Hello', model: SLOW_MODEL };
        const runs = Array.from({ length: IN_FLIGHT }, (_, index) =>
          call((index % 2 === 0 ? old : next).api.pod)('/executions', { draft }),
        );
        await until('calls are under way in the worker that is to stop', async () => {
          const metrics = await (await fetch(`http://${old.worker.pod.address}:9464/metrics`)).text();
          return /^pms_worker_slots\{.*state="used".*\} [1-9]/m.test(metrics);
        });
        const ends = await Promise.all(
          [old.api, old.worker].map(({ pod, manifest }) =>
            pod.stop(manifest.spec.template.spec.terminationGracePeriodSeconds),
          ),
        );
        const statuses = (await Promise.all(runs)).map(({ status }) => status);
        assert(
          statuses.every((status) => status === 'completed'),
          statuses.join(),
        );
        assert(
          ends.every(({ code }) => code === 0),
          `they ended with ${ends.map(({ code }) => code).join()}`,
        );
        const after = await call(next.api.pod)('/executions', { draft: { ...draft, model: 'sandbox/echo' } });
        assert(after.status === 'completed', `afterwards: ${after.status}`);
        const took = Math.max(...ends.map(({ seconds }) => seconds));
        return `${IN_FLIGHT} of ${IN_FLIGHT} completed; API and worker ended with 0 after ${took.toFixed(1)} s at most`;
      },
    ],
  ];
  return {
    steps,
    remove() {
      podman.remove();
      tried('podman', ['rmi', '--force', `${repository}:carried`]);
    },
  };
}

const encoded = (values: Record<string, string>) =>
  Object.fromEntries(Object.entries(values).map(([name, value]) => [name, Buffer.from(value).toString('base64')]));

/** Asks the probes of a pod, as a kubelet would. */
async function ready({ pod, manifest }: { pod: Pod; manifest: Manifest }): Promise<void> {
  const [container] = manifest.spec.template.spec.containers;
  for (const probe of ['startupProbe', 'livenessProbe', 'readinessProbe']) {
    const { path, port } = container[probe].httpGet;
    const { containerPort } = container.ports.find(({ name }: { name: string }) => name === port);
    const url = `http://${pod.address}:${containerPort}${path}`;
    await until(`${url} of ${manifest.metadata.name}`, async () => (await fetch(url)).ok);
  }
}

function createCall(base: string, key: string) {
  return async (route: string, body: object) => {
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
    const response = await fetch(`${base}${route}`, { method: 'POST', headers, body: JSON.stringify(body) });
    if (!response.ok) throw new Error(`POST ${route}: ${response.status} ${await response.text()}`);
    return response.json() as Promise<{ status?: string; output?: string }>;
  };
}
