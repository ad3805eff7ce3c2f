// Looks for secrets in the files of this repository that are committed or about to be:
// npm run check:secrets [-- --history] [FOLDER]
// Uses Gitleaks, which Go builds once per user. `.gitleaks.toml` lists what it may find: values made up for tests and documents.
// `--history` also searches every commit. Output does not show the secrets.
import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { goTool } from './go-tools.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: { history: { type: 'boolean', default: false } },
});
const searched = path.resolve(positionals[0] ?? root);

/** Copies the files of a work tree that git would commit, without packages and personal settings. */
function copyFiles(from: string, to: string): void {
  const listed = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], {
    cwd: from,
    encoding: 'utf8',
    maxBuffer: 2 ** 28,
  });
  for (const file of new Set(listed.split('\0'))) {
    const source = path.join(from, file);
    // Includes files that are deleted but not committed.
    if (file !== '' && existsSync(source)) cpSync(source, path.join(to, file));
  }
}

const gitleaks = await goTool('gitleaks', console.error);
const shown = ['--config', path.join(root, '.gitleaks.toml'), '--no-banner', '--no-color', '--verbose', '--redact'];
/** @returns whether nothing was found */
function search(args: string[], cwd: string): boolean {
  return spawnSync(gitleaks, [...args, ...shown], { cwd, stdio: 'inherit' }).status === 0;
}

const copy = mkdtempSync(path.join(tmpdir(), 'pms-secrets-'));
try {
  copyFiles(searched, copy);
  // From inside the folder, so that paths are relative to the repository.
  const clean = [search(['dir', '.'], copy)];
  if (options.history) clean.push(search(['git', '.'], searched));
  if (clean.includes(false)) {
    console.error(
      'Remove the secret, and revoke it: what was pushed is known. What is none is allowed in .gitleaks.toml.',
    );
    process.exitCode = 1;
  }
} finally {
  rmSync(copy, { recursive: true });
}
