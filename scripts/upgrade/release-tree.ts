import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, symlinkSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { run } from '../python.ts';

const PROJECT = fileURLToPath(new URL('../../', import.meta.url));
const CACHE = path.join(PROJECT, '.cache', 'upgrade');
const BASELINE = fileURLToPath(new URL('baseline', import.meta.url));

/** The sources of a release, installed. */
export interface ReleaseTree {
  folder: string;
  /** The requested reference, and its commit. */
  name: string;
}

function git(...args: string[]): string | undefined {
  const { status, stdout } = spawnSync('git', args, { cwd: PROJECT, encoding: 'utf8' });
  return status === 0 ? stdout.trim() : undefined;
}

/** The tag of the last release before the current commit; otherwise the commit in the file `baseline`. */
function lastRelease(): string {
  return (
    git('describe', '--tags', '--abbrev=0', '--match', 'v*', 'HEAD^') ??
    (readFileSync(BASELINE, 'utf8')
      .split('\n')
      .find((line) => /^[0-9a-f]{40}$/.test(line)) ||
      'HEAD^')
  );
}

/**
 * Checks out the sources of a release with their packages, once per commit.
 * @param ref a tag or commit; default: the last release
 * @throws Error that says what is missing
 */
export async function releaseTree(ref = lastRelease()): Promise<ReleaseTree> {
  const commit = git('rev-parse', '--verify', '--quiet', `${ref}^{commit}`);
  if (commit === undefined)
    throw new Error(
      `${ref} is no commit of this clone. Fetch it (git fetch --tags --unshallow), or name another one by --from.`,
    );
  const folder = path.join(CACHE, commit);
  if (!existsSync(folder)) await extract(commit, folder);
  return { folder, name: ref === commit ? commit.slice(0, 8) : `${ref} (${commit.slice(0, 8)})` };
}

async function extract(commit: string, folder: string): Promise<void> {
  mkdirSync(CACHE, { recursive: true });
  // Created under another name and renamed, so that it is never found incomplete.
  const aside = mkdtempSync(`${folder}-`);
  try {
    const archive = path.join(aside, 'tree.tar');
    for (const command of [
      ['git', 'archive', '--output', archive, commit],
      ['tar', '-xf', archive, '-C', aside],
    ]) {
      const [program = '', ...args] = command;
      const { status, stderr } = spawnSync(program, args, { cwd: PROJECT, encoding: 'utf8' });
      if (status !== 0) throw new Error(`${command.join(' ')}: ${stderr}`);
    }
    rmSync(archive);
    const lockOf = (tree: string) => readFileSync(path.join(tree, 'package-lock.json'), 'utf8');
    if (lockOf(aside) === lockOf(PROJECT))
      symlinkSync(path.join(PROJECT, 'node_modules'), path.join(aside, 'node_modules'));
    else {
      console.log(`installing the packages of ${commit.slice(0, 8)}…`);
      const { code, output } = await run('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund'], { cwd: aside });
      if (code !== 0) throw new Error(`The packages of ${commit} can't be installed. ${output.slice(-2000)}`);
    }
    renameSync(aside, folder);
  } finally {
    rmSync(aside, { recursive: true, force: true });
  }
}
