import { spawnSync } from 'node:child_process';
import path from 'node:path';
import process from 'node:process';
import { succeed } from './packages.ts';

const works = (program: string, ...args: string[]) => spawnSync(program, args, { stdio: 'ignore' }).status === 0;

/** @throws Error that says what to install, or how to do without */
function findEngine(): 'docker' | 'podman' {
  if (works('docker', 'buildx', 'version') && works('docker', 'info')) return 'docker';
  if (works('podman', 'info')) return 'podman';
  throw new Error(
    'No container engine builds the image: install Docker with buildx, or Podman; or leave it out by --without images.',
  );
}

/**
 * Builds the image for each platform, as an archive in OCI layout in a folder.
 * @param platforms such as `linux/amd64`
 * @param epoch timestamp of the build in seconds since 1970
 * @returns the files
 */
export async function buildImages(
  root: string,
  version: string,
  folder: string,
  { platforms, epoch }: { platforms: readonly string[]; epoch: string },
): Promise<string[]> {
  const engine = findEngine();
  const files: string[] = [];
  for (const platform of platforms) {
    const file = `prompt-management-service-${version}-${platform.replaceAll('/', '-')}.oci.tar`;
    const archive = path.join(folder, file);
    const labels = [`org.opencontainers.image.version=${version}`, 'org.opencontainers.image.licenses=Apache-2.0'];
    const build = ['--platform', platform, ...labels.flatMap((label) => ['--label', label])];
    if (engine === 'docker') {
      const output = `type=oci,dest=${archive},rewrite-timestamp=true`;
      const env = { SOURCE_DATE_EPOCH: epoch };
      await succeed('docker', ['buildx', 'build', ...build, '--provenance=false', '--output', output, '.'], {
        cwd: root,
        env,
      });
    } else {
      const name = `localhost/pms-release-${process.pid}:${version}-${platform.replaceAll('/', '-')}`;
      await succeed('podman', ['build', ...build, '--format', 'oci', '--timestamp', epoch, '--tag', name, '.'], {
        cwd: root,
      });
      await succeed('podman', ['save', '--quiet', '--format', 'oci-archive', '--output', archive, name]);
      await succeed('podman', ['rmi', '--force', name]);
    }
    files.push(file);
  }
  return files;
}
