import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { sectionOf } from './changelog.ts';
import { declaredVersions } from './versions.ts';

/** Runs git in a checkout. @returns its output, trimmed */
export function git(root: string, ...args: string[]): string {
  return execFileSync('git', args, { cwd: root, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] }).trim();
}

/** The version in package.json, which all others must match. */
export function versionOf(root: string): string {
  const { version }: { version: string } = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8'));
  return version;
}

/** The Helm chart. */
export const CHART = 'deploy/helm/prompt-management-service';

/**
 * Why a checkout can't be released, one line per reason.
 * @param tagged whether the tag must exist on this commit, or must not exist yet
 * @param withChart whether the chart is released, too
 */
export function obstacles(root: string, { tagged, withChart }: { tagged: boolean; withChart: boolean }): string[] {
  const version = versionOf(root);
  const tag = `v${version}`;
  const found: string[] = [];

  const changes = git(root, 'status', '--porcelain');
  if (changes !== '') found.push(`the work tree is not clean: commit or remove\n${changes}`);

  for (const { file, line, version: said } of declaredVersions(root))
    if (said !== version)
      found.push(`${file}:${line} says ${said}, not ${version}: npm run prepare-release -- ${version}`);

  const section = sectionOf(readFileSync(path.join(root, 'CHANGELOG.md'), 'utf8'), version);
  if (section === undefined) found.push(`CHANGELOG.md has no section "## [${version}]"`);
  else if (section.date === undefined) found.push(`CHANGELOG.md gives ${version} no date`);
  else if (section.body === '') found.push(`CHANGELOG.md says nothing of ${version}`);

  const [document, released] = ['openapi.json', 'openapi.released.json'].map((file) => path.join(root, file));
  if (!existsSync(released ?? '') || readFileSync(released ?? '', 'utf8') !== readFileSync(document ?? '', 'utf8'))
    found.push(`openapi.released.json is not openapi.json: npm run prepare-release -- ${version}`);

  const isTagged = git(root, 'tag', '--list', tag) !== '';
  if (!tagged && isTagged) found.push(`the tag ${tag} exists: a version is released once`);
  if (tagged && !isTagged) found.push(`there is no tag ${tag}`);
  if (tagged && isTagged && git(root, 'rev-list', '-n', '1', tag) !== git(root, 'rev-parse', 'HEAD'))
    found.push(`the tag ${tag} is on another commit`);

  if (withChart && !existsSync(path.join(root, CHART, 'Chart.yaml')))
    found.push(`there is no chart in ${CHART}: leave it out by --without chart`);
  return found;
}
