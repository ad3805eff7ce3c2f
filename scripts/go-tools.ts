import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { userCacheDir } from '../src/embedded/programs/cache-dir.ts';
import { run } from '../src/embedded/programs/programs.ts';
import { fillOnce, withProgress } from '../src/embedded/programs/sources.ts';

/** Programs of tools/ that Go builds, with their packages and their version commands. */
const PROGRAMS = {
  cosign: { module: 'cosign', package: 'github.com/sigstore/cosign/v3/cmd/cosign', version: 'version' },
  gitleaks: { module: 'gitleaks', package: 'github.com/zricethezav/gitleaks/v8', version: '--version' },
  'otel-collector': { module: 'otel-collector', package: '.', version: '--version' },
  helm: { module: 'helm', package: 'helm.sh/helm/v4/cmd/helm', version: 'version' },
  kubeconform: { module: 'kubeconform', package: 'github.com/yannh/kubeconform/cmd/kubeconform', version: '-v' },
  promtool: { module: 'prometheus', package: 'github.com/prometheus/prometheus/cmd/promtool', version: '--version' },
  syft: { module: 'syft', package: 'github.com/anchore/syft/cmd/syft', version: '--version' },
} as const;

/**
 * The path of a program, which Go builds once per user from the pinned versions and checksums of its module in tools/.
 * @param report receives a line when it is built, and every 20 s after that
 * @throws Error that says what is missing
 */
export async function goTool(name: keyof typeof PROGRAMS, report: (line: string) => void): Promise<string> {
  const { module, package: source, version } = PROGRAMS[name];
  const home = fileURLToPath(new URL(`../tools/${module}/`, import.meta.url));
  const sums = readdirSync(home).map((file) => readFileSync(path.join(home, file)));
  const hash = createHash('sha256').update(Buffer.concat(sums)).digest('hex').slice(0, 16);
  const folder = path.join(userCacheDir(process.env), module, `${name}-${hash}`);
  const program = path.join(folder, name);
  await fillOnce({
    folder,
    isFilled: async () => (await run(program, [version])).code === 0,
    onWait: () => report(`Waiting for another process that builds ${name}…`),
    async fill(scratch) {
      const args = ['build', '-mod=readonly', '-trimpath', '-ldflags=-s -w', '-o', path.join(scratch, name), source];
      // The user's Go settings must not change what is built, only where modules come from.
      const env = { ...process.env, CGO_ENABLED: '0', GOWORK: 'off', GOFLAGS: '' };
      const { code, output } = await withProgress(`Building ${name} (minutes the first time)`, report, () =>
        run('go', args, { cwd: home, env }),
      );
      if (code !== 0) throw new Error(`${name} can't be built. It needs Go 1.26 or newer. ${output.slice(-600)}`);
    },
  });
  return program;
}
