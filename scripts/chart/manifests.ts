import { parseAllDocuments } from 'yaml';
import { goTool } from '../go-tools.ts';
import { assert, run, tried } from './programs.ts';

export const CHART = 'deploy/helm/prompt-management-service';

/** As far as the checks look at it. */
export interface Manifest {
  kind: string;
  metadata: { name: string; annotations?: Record<string, string> };
  data?: Record<string, string>;
  // biome-ignore lint/suspicious/noExplicitAny: whatever a kind has.
  spec?: any;
}

export const helm = await goTool('helm', console.error);

/**
 * What the chart gives for values, as YAML.
 * @param options `--values`, `--set`
 * @param from the folder of the chart, or its package
 */
export const template = (options: string[], { from = CHART, release = 'check' } = {}): string =>
  run(helm, ['template', release, from, '--namespace', 'prompts', ...options]);

/** What Helm says of values that it refuses; undefined where it takes them. */
export function refusal(options: string[]): string | undefined {
  const { status, stderr } = tried(helm, ['template', 'check', CHART, ...options]);
  return status === 0 ? undefined : stderr;
}

export const manifestsOf = (text: string): Manifest[] =>
  parseAllDocuments(text)
    .map((document) => document.toJS() as Manifest | null)
    .filter((manifest) => manifest !== null);

/** The job or the deployment of one kind of process. */
export function workloadOf(manifests: Manifest[], component: string): Manifest {
  const found = manifests.find(
    ({ kind, metadata }) => ['Job', 'Deployment'].includes(kind) && metadata.name.endsWith(`-${component}`),
  );
  if (found === undefined) throw new Error(`there is no ${component}`);
  return found;
}

/** What must be in the manifests of each file of values, besides what is in all of them. */
const ALWAYS = ['ConfigMap', 'Deployment', 'Job', 'PodDisruptionBudget', 'Service', 'ServiceAccount'];
const KINDS: Readonly<Record<string, string[]>> = {
  full: ['HorizontalPodAutoscaler', 'Ingress', 'NetworkPolicy', 'PodMonitor', 'PrometheusRule'],
  keda: ['ScaledObject'],
  minimal: [],
  'temporal-cloud': ['ScaledObject', 'TriggerAuthentication'],
};

/** @param of the name of the file of values */
export function checkKinds(manifests: Manifest[], of: string): void {
  const wanted = [...ALWAYS, ...(KINDS[of] ?? [])].sort();
  const found = [...new Set(manifests.map(({ kind }) => kind))].sort();
  assert(found.join() === wanted.join(), `${of} gives ${found.join(', ')} in place of ${wanted.join(', ')}`);
}

/** What holds for every pod, whatever the values. @returns how many kinds of pods there are */
export function checkPods(manifests: Manifest[]): number {
  const pods = manifests.filter(({ spec }) => spec?.template?.spec?.containers);
  const settings = manifests.find(({ kind }) => kind === 'ConfigMap')?.data ?? {};
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
      for (const { name, value } of container.env ?? [])
        assert(settings[name] === value, `${of} has ${name}, which is not among the settings`);
    }
    if (kind !== 'Deployment') continue;
    for (const probe of ['startupProbe', 'livenessProbe', 'readinessProbe'])
      assert(pod.containers[0][probe]?.httpGet.port === 'metrics', `${of} has no ${probe} on the port of metrics`);
    const grace = Number.parseInt(settings['SHUTDOWN_GRACE'] ?? '', 10);
    assert(pod.terminationGracePeriodSeconds >= grace + 10, `${of} is killed before SHUTDOWN_GRACE`);
    assert(pod.topologySpreadConstraints.length === 2, `${of} is not spread`);
  }
  return pods.length;
}

/** Each kind of pod has its policy, and none leads to private networks by the ports that callers' addresses can name. */
export function checkNetworkPolicies(manifests: Manifest[]): void {
  const policies = manifests.filter(({ kind }) => kind === 'NetworkPolicy');
  assert(policies.length === 3, `there are ${policies.length} network policies`);
  for (const { metadata, spec } of policies) {
    const open = spec.egress.filter(({ to, ports }: { to?: object[]; ports?: { port: number }[] }) =>
      ports?.some(({ port }) => port === 443) ? !JSON.stringify(to).includes('169.254.0.0/16') : ports === undefined,
    );
    assert(open.length === 0, `${metadata.name} leads anywhere`);
    assert(spec.policyTypes.includes('Egress') && spec.policyTypes.includes('Ingress'), `${metadata.name} is open`);
  }
}
