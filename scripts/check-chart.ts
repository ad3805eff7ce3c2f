// Checks the Helm chart in the form in which it is installed: npm run check:chart [-- --without containers] [--image ARCHIVE]
// Lints and renders it with each file of deploy/helm/…/ci, validates the manifests by the schemas of Kubernetes, KEDA and the operator of
// Prometheus, gives it wrong values, and asks Prometheus' engine what workers are scaled by. Then it packs the chart, saves the image that it
// has built (or takes `--image`, as of a release), and installs from these two files on a network without a way out: Podman plays the pods
// that are rendered (`podman kube play`). Needs Go, which builds the tools, minutes the first time, Python, and Podman with cgroups for the
// last part. What it makes has names of its own and is removed at the end.
import { globSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import process from 'node:process';
import { parseArgs } from 'node:util';
import { createInstallation } from './chart/installation.ts';
import {
  CHART,
  checkKinds,
  checkNetworkPolicies,
  checkPods,
  helm,
  manifestsOf,
  refusal,
  template,
} from './chart/manifests.ts';
import { assert, ROOT, run, tried } from './chart/programs.ts';
import { checkScalingQuery } from './chart/scaling.ts';
import { createValidator } from './chart/schemas.ts';

const { values: options } = parseArgs({
  options: { without: { type: 'string', multiple: true, default: [] }, image: { type: 'string' } },
});
const folder = mkdtempSync(path.join(tmpdir(), 'pms-chart-'));
const files = globSync(`${CHART}/ci/*.yaml`, { cwd: ROOT }).sort();
const nameOf = (file: string) => path.basename(file, '.yaml');
const minimal = ['--values', `${CHART}/ci/minimal.yaml`];

const WRONG = [
  ['existingSecret=', 'existingSecret'],
  ['api.replica=3', 'replica'],
  ['settings.DATABASE_URL=postgresql://a', 'it is a secret'],
  ['settings.OPENAI_API_KEY=sk', 'it is a secret'],
  ['settings.OIDC_CLIENT_SECRET=s', 'it is a secret'],
  ['settings.SCIM_TOKEN=s', 'it is a secret'],
  ['settings.OTEL_EXPORTER_OTLP_HEADERS=authorization=s', 'it is a secret'],
  ['settings.PORT=80', 'api.service.port'],
  ['temporal.address=temporal', 'temporal'],
  ['image.pullPolicy=Sometimes', 'pullPolicy'],
  ['shutdownGraceSeconds=long', 'shutdownGraceSeconds'],
  ['api.ingress.enabled=true', 'TRUST_PROXY'],
  ['worker.keda.enabled=true', 'serverAddress'],
  ['worker.keda.minReplicas=0', 'minReplicas'],
] as const;

const carried = { chart: '', image: options.image === undefined ? '' : path.resolve(options.image) };
const installation = options.without.includes('containers') ? undefined : createInstallation(() => carried);

const steps: [string, () => Promise<string> | string][] = [
  [
    'helm lint --strict',
    () => {
      for (const file of files) run(helm, ['lint', '--strict', CHART, '--values', file]);
      return `${files.length} files of values`;
    },
  ],
  [
    'the manifests are valid, and pods are as they should be',
    async () => {
      const { version, validate } = await createValidator(folder);
      let count = 0;
      let pods = 0;
      for (const file of files) {
        const text = template(['--values', file]);
        validate(text);
        const manifests = manifestsOf(text);
        checkKinds(manifests, nameOf(file));
        pods += checkPods(manifests);
        count += manifests.length;
        if (nameOf(file) === 'full') checkNetworkPolicies(manifests);
      }
      return `${count} resources, ${pods} with pods; Kubernetes ${version}`;
    },
  ],
  [
    'wrong values are refused, and the reason names them',
    () => {
      for (const [wrong, reason] of WRONG) {
        const said = refusal([...minimal, '--set', wrong]);
        assert(said !== undefined, `${wrong} was taken`);
        assert(said?.includes(reason), `${wrong}: ${said}`);
      }
      return `${WRONG.length} values`;
    },
  ],
  [
    'workers are scaled by how long steps wait',
    async () =>
      `${await checkScalingQuery(manifestsOf(template(['--values', `${CHART}/ci/keda.yaml`])), folder)} cases`,
  ],
  [
    'the package holds the alert rules',
    () => {
      run(helm, ['package', CHART, '--destination', folder]);
      const [file = ''] = globSync('*.tgz', { cwd: folder });
      carried.chart = path.join(folder, file);
      const on = ['--set', 'monitoring.prometheusRule.enabled=true'];
      const manifests = manifestsOf(template([...minimal, ...on], { from: carried.chart }));
      const groups = manifests.find(({ kind }) => kind === 'PrometheusRule')?.spec.groups ?? [];
      assert(groups.length > 0, 'there are none');
      return `${file}: ${groups.flatMap(({ rules }: { rules: object[] }) => rules).length} alerts`;
    },
  ],
  ...(installation === undefined || options.image !== undefined
    ? []
    : [['the image is built and saved', buildAndSave] satisfies [string, () => string]]),
  ...(installation?.steps ?? []),
];

function buildAndSave(): string {
  const name = `localhost/pms-chart-${process.pid}:built`;
  carried.image = path.join(folder, 'image.tar');
  try {
    run('podman', ['build', '--tag', name, ROOT]);
    run('podman', ['save', '--quiet', '--output', carried.image, name]);
    return `${(Number(run('podman', ['image', 'inspect', '--format', '{{.Size}}', name])) / 1e6).toFixed(0)} MB`;
  } finally {
    // What runs is what the archive holds.
    tried('podman', ['rmi', '--force', name]);
  }
}

let passed = 0;
try {
  for (const [index, [name, step]] of steps.entries()) {
    const before = performance.now();
    const result = await step();
    passed += 1;
    console.log(`${index + 1}. ${name}: ${result} (${((performance.now() - before) / 1000).toFixed(1)} s)`);
  }
} catch (error) {
  console.log(`${passed + 1}. ${steps[passed]?.[0]}: FAILED`);
  console.error(error);
  process.exitCode = 1;
} finally {
  installation?.remove();
  rmSync(folder, { recursive: true, force: true });
}
console.log(`${passed} passed, ${steps.length - passed} failed or not begun`);
