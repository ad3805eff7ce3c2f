import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { dateVersion, releaseNotes, sectionOf } from '../../scripts/release/changelog.ts';
import { obstacles } from '../../scripts/release/checks.ts';
import { writeSums, wrongSums } from '../../scripts/release/sums.ts';
import { declaredVersions, setVersion } from '../../scripts/release/versions.ts';
import { projectVersion } from '../../src/version.ts';

const project = fileURLToPath(new URL('../..', import.meta.url));
const version = projectVersion();

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'pms-release-test-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

const git = (...args: string[]) =>
  execFileSync('git', ['-c', 'user.name=Test', '-c', 'user.email=test@example.com', ...args], { cwd: folder });
const change = (file: string, edit: (text: string) => string) => {
  const full = path.join(folder, file);
  writeFileSync(full, edit(readFileSync(full, 'utf8')));
};
const commit = () => {
  git('add', '--all');
  git('commit', '--quiet', '--allow-empty', '--message', 'A change');
};

/** A repository with this one's files that contain the version, ready for a release. */
function readyRepository(): void {
  const files = new Set([...declaredVersions(project).map(({ file }) => file), 'CHANGELOG.md', 'openapi.json']);
  for (const file of files) {
    mkdirSync(path.join(folder, path.dirname(file)), { recursive: true });
    cpSync(path.join(project, file), path.join(folder, file));
  }
  cpSync(path.join(folder, 'openapi.json'), path.join(folder, 'openapi.released.json'));
  change('CHANGELOG.md', (text) => (sectionOf(text, version) ? text : dateVersion(text, version, '2026-01-31')));
  git('init', '--quiet');
  commit();
}
const found = (tagged = false) => obstacles(folder, { tagged, withChart: false });

test('the version is the same everywhere', () => {
  const said = declaredVersions(project);
  expect(said.length).toBeGreaterThan(20);
  expect(said.filter((each) => each.version !== version)).toEqual([]);
});

test('a version is set everywhere, and doing so twice changes nothing', () => {
  readyRepository();
  setVersion(folder, '12.3.4-rc.1');
  expect(new Set(declaredVersions(folder).map((each) => each.version))).toEqual(new Set(['12.3.4-rc.1']));
  const lock = readFileSync(path.join(folder, 'package-lock.json'), 'utf8');
  // Other packages keep theirs, and the files stay valid JSON.
  expect(JSON.parse(lock).packages['node_modules/koa']).toEqual(
    JSON.parse(readFileSync(path.join(project, 'package-lock.json'), 'utf8')).packages['node_modules/koa'],
  );
  commit();
  setVersion(folder, '12.3.4-rc.1');
  expect(git('status', '--porcelain').toString()).toBe('');
  expect(() => setVersion(path.join(folder, 'cli'), '1.2.3')).toThrow('no such file');
});

test.each<[string, () => void, string]>([
  ['changed files', () => change('CHANGELOG.md', (text) => `${text}\n`), 'the work tree is not clean'],
  [
    'a package of another version',
    () => change('cli/package.json', (text) => text.replace(version, '0.0.9')),
    'says 0.0.9',
  ],
  [
    'no section of the changelog',
    () => change('CHANGELOG.md', (text) => text.replace(`[${version}]`, '[0.0.1]')),
    'no section',
  ],
  ['no date', () => change('CHANGELOG.md', (text) => text.replace(/^(## \[\d.*?\]) - .*$/m, '$1')), 'no date'],
  [
    'another document than that of the release',
    () => change('openapi.json', (text) => `${text}\n`),
    'is not openapi.json',
  ],
  ['a tag that is there', () => git('tag', `v${version}`), 'is released once'],
])('%s: nothing is released', (what, spoil, reason) => {
  readyRepository();
  expect(found()).toEqual([]);
  spoil();
  if (what !== 'changed files') commit();
  expect(found()).toEqual([expect.stringContaining(reason)]);
});

test('the workflow releases the commit that is tagged, and no other', () => {
  readyRepository();
  expect(found(true)).toEqual([`there is no tag v${version}`]);
  git('tag', `v${version}`);
  expect(found(true)).toEqual([]);
  commit();
  expect(found(true)).toEqual([`the tag v${version} is on another commit`]);
});

test('a release without its chart must be requested', () => {
  readyRepository();
  rmSync(path.join(folder, 'deploy'), { recursive: true, force: true });
  commit();
  expect(obstacles(folder, { tagged: false, withChart: true })).toEqual([expect.stringContaining('--without chart')]);
});

const CHANGELOG =
  '# Changelog\n\n## [Unreleased]\n\n### Fixed\n\n- One.\n\n## [1.1.0] - 2026-01-02\n\n- Two.\n\n## [1.0.0]\n\n- Three.\n';

test('unreleased changes get a version and a date, and become the notes', () => {
  const dated = dateVersion(CHANGELOG, '1.2.0', '2026-03-04');
  expect(sectionOf(dated, 'Unreleased')).toEqual({ date: undefined, body: '' });
  expect(sectionOf(dated, '1.2.0')).toEqual({ date: '2026-03-04', body: '### Fixed\n\n- One.' });
  expect(sectionOf(dated, '1.0.0')).toEqual({ date: undefined, body: '- Three.' });
  expect(releaseNotes(dated, '1.2.0')).toBe('# 1.2.0\n\n### Fixed\n\n- One.\n');
  expect(dateVersion(dated, '1.2.0', '2026-03-04')).toBe(dated);
  expect(() => dateVersion(dated, '1.3.0', '2026-03-04')).toThrow('says of nothing');
  expect(() => releaseNotes(dated, '1.3.0')).toThrow('no section');
});

test('checksums detect changed, missing and added files', async () => {
  for (const file of ['a.tgz', 'b.whl']) writeFileSync(path.join(folder, file), file);
  await writeSums(folder);
  // The form that sha256sum reads.
  expect(readFileSync(path.join(folder, 'SHA256SUMS'), 'utf8')).toMatch(
    /^[0-9a-f]{64} {2}a\.tgz\n[0-9a-f]{64} {2}b\.whl\n$/,
  );
  expect(await wrongSums(folder)).toEqual([]);
  writeFileSync(path.join(folder, 'a.tgz'), 'another');
  rmSync(path.join(folder, 'b.whl'));
  writeFileSync(path.join(folder, 'c.tar'), 'c');
  expect(await wrongSums(folder)).toEqual([
    'c.tar is not in SHA256SUMS',
    'a.tgz is not the file that was released',
    'b.whl is missing',
  ]);
  change('SHA256SUMS', (text) => `${text}not a line\n`);
  expect(await wrongSums(folder)).toContain('SHA256SUMS has the line "not a line"');
});
