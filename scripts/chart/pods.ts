import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { stringify } from 'yaml';
import { until } from '../../test/support/wait-for.ts';
import type { Manifest } from './manifests.ts';
import { run, tried } from './programs.ts';

/** A running pod. */
export interface Pod {
  id: string;
  /** In its network. */
  address: string;
  /** Runs a program in its container. @throws Error where it fails */
  exec(...command: string[]): string;
  /** Whether a program in its container succeeds. */
  tries(...command: string[]): boolean;
  /** Waits for its end. @returns the exit code and what it printed */
  ended(): Promise<{ code: number; output: string }>;
  /** Asks it to end, and kills it when its grace is over. @returns its exit code */
  stop(graceSeconds: number): Promise<{ code: number; seconds: number }>;
}

/** Podman with a network of its own, which has no way out. */
export interface Podman {
  /** @throws Error where there is no Podman */
  createNetwork(): void;
  /** Plays what a manifest says, by `podman kube play`. */
  play(workload: Manifest, others: object[]): Pod;
  /** Starts a server by the name that others reach it by. */
  serve(name: string, image: string, environment: Record<string, string>): { tries(...command: string[]): boolean };
  /** Removes all of it. */
  remove(): void;
}

const podman = (...args: string[]) => run('podman', args);
// biome-ignore lint/suspicious/noExplicitAny: as Podman has it.
const inspect = (...args: string[]): any => {
  const found = JSON.parse(podman(...args));
  return Array.isArray(found) ? found[0] : found;
};
const addressOf = (container: string): string =>
  Object.values<{ IPAddress: string }>(inspect('inspect', container).NetworkSettings.Networks)[0]?.IPAddress ?? '';

/** The container of a pod, apart from the one that holds its namespaces. */
function containerOf(pod: string): { id: string; infra: string } {
  const { Containers, InfraContainerID } = inspect('pod', 'inspect', pod);
  const own = Containers.find(({ Id }: { Id: string }) => Id !== InfraContainerID);
  return { id: own?.Id, infra: InfraContainerID };
}

/**
 * What Podman plays: the pod of a job, since it knows no jobs, without probes and hooks, for which it needs curl in the image and systemd.
 * @param others ConfigMaps and secrets
 */
function playable({ metadata, spec }: Manifest, others: object[]): string {
  const { containers, ...rest } = spec.template.spec;
  const bare = containers.map((container: Record<string, unknown>) => {
    const { startupProbe: _s, livenessProbe: _l, readinessProbe: _r, lifecycle: _h, ...kept } = container;
    return kept;
  });
  const pod = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: metadata.name, labels: spec.template.metadata.labels },
    // Restarting is what the check would not see.
    spec: { ...rest, containers: bare, restartPolicy: 'Never' },
  };
  return [...others, pod].map((document) => stringify(document, { aliasDuplicateObjects: false })).join('---\n');
}

/** Aside, for requests to it are answered meanwhile. */
async function stopped(container: string, graceSeconds: number): Promise<void> {
  const stopping = spawn('podman', ['stop', '--time', String(graceSeconds), container], { stdio: 'ignore' });
  await once(stopping, 'close');
}

/** @param project what its network and servers are named by */
export function createPodman(project: string): Podman {
  const pods: string[] = [];
  const containers: string[] = [];
  return {
    createNetwork: () => void podman('network', 'create', '--internal', project),
    play(workload, others) {
      const printed = run('podman', ['kube', 'play', '--quiet', '--network', project, '-'], playable(workload, others));
      const id = /^Pod:\n(\w+)/m.exec(printed)?.[1];
      if (id === undefined) throw new Error(`no pod: ${printed}`);
      pods.push(id);
      const { id: container, infra } = containerOf(id);
      const codeOf = () => inspect('inspect', container).State.ExitCode as number;
      const output = () => {
        const { stdout, stderr } = tried('podman', ['logs', container]);
        return `${stdout}${stderr}`;
      };
      return {
        id,
        address: addressOf(infra),
        exec: (...command) => podman('exec', container, ...command),
        tries: (...command) => tried('podman', ['exec', container, ...command]).status === 0,
        async ended() {
          await until('its end', async () => inspect('inspect', container).State.Status === 'exited');
          return { code: codeOf(), output: output() };
        },
        async stop(graceSeconds) {
          const before = performance.now();
          await stopped(container, graceSeconds);
          return { code: codeOf(), seconds: (performance.now() - before) / 1000 };
        },
      };
    },
    serve(name, image, environment) {
      const container = `${project}-${name}`;
      const variables = Object.entries(environment).flatMap(([key, value]) => ['--env', `${key}=${value}`]);
      const as = ['--name', container, '--network', project, '--network-alias', name];
      podman('run', '--detach', ...as, ...variables, image);
      containers.push(container);
      return { tries: (...command) => tried('podman', ['exec', container, ...command]).status === 0 };
    },
    remove() {
      for (const pod of pods) tried('podman', ['pod', 'rm', '--force', '--time', '2', pod]);
      for (const container of containers) tried('podman', ['rm', '--force', '--volumes', '--time', '2', container]);
      tried('podman', ['network', 'rm', '--force', project]);
    },
  };
}
