import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';

/** A place in a file that contains the version. The only group of the pattern is the version. */
interface Place {
  file: string;
  pattern: RegExp;
  /** Whether the file may be missing. */
  optional?: boolean;
}

const VERSION = String.raw`(\d+\.\d+\.\d+(?:-[0-9A-Za-z.]+)?)`;
const at = (before: string, after = '"') => new RegExp(`${before}${VERSION}${after}`, 'gm');
const inLock = (name: string) => at(`^      "name": "${name}",\n      "version": "`);
/** In documented commands that install a locally built package. */
const PACKED = at('pms-(?:client|cli)-', String.raw`\.tgz`);

const PLACES: readonly Place[] = [
  { file: 'package.json', pattern: at('^  "version": "') },
  { file: 'package-lock.json', pattern: at('^  "version": "') },
  ...['prompt-management-service', 'pms-cli', 'pms-client'].map((name) => ({
    file: 'package-lock.json',
    pattern: inLock(name),
  })),
  { file: 'package-lock.json', pattern: at('^        "pms-client": "') },
  { file: 'clients/typescript/package.json', pattern: at('^  "version": "') },
  { file: 'cli/package.json', pattern: at('^  "version": "') },
  { file: 'cli/package.json', pattern: at('^    "pms-client": "') },
  { file: 'clients/python/pyproject.toml', pattern: at('^version = "') },
  ...['_async', '_sync'].map((folder) => ({
    file: `clients/python/src/pms_client/${folder}/transport.py`,
    pattern: at('"pms-client-python/'),
  })),
  { file: 'openapi.json', pattern: at('^    "version": "') },
  { file: 'openapi.released.json', pattern: at('^    "version": "'), optional: true },
  { file: 'deploy/helm/prompt-management-service/Chart.yaml', pattern: at('^version: "?', '"?$'), optional: true },
  { file: 'deploy/helm/prompt-management-service/Chart.yaml', pattern: at('^appVersion: "?', '"?$'), optional: true },
  ...['cli/README.md', 'docs/cli.md', 'docs/clients/typescript.md', 'skills/prompt-management/SKILL.md'].map(
    (file) => ({
      file,
      pattern: PACKED,
    }),
  ),
  { file: '.github/ISSUE_TEMPLATE/bug.yml', pattern: at('placeholder: ', ',') },
];

/** A version found in a file, and its position. */
export interface Said {
  file: string;
  line: number;
  version: string;
}

/**
 * Every place in a checkout that contains the version.
 * @throws Error if a file or a place in it is missing
 */
export function declaredVersions(root: string): Said[] {
  return PLACES.flatMap(({ file, pattern, optional = false }) => {
    const full = path.join(root, file);
    if (optional && !existsSync(full)) return [];
    const text = readFileSync(full, 'utf8');
    const said = [...text.matchAll(pattern)].map((match) => ({
      file,
      line: text.slice(0, match.index).split('\n').length,
      version: match[1] ?? '',
    }));
    if (said.length === 0) throw new Error(`${file} says no version: nothing there matches ${pattern}`);
    return said;
  });
}

/** Writes the version to all of them. @throws as `declaredVersions` */
export function setVersion(root: string, version: string): void {
  declaredVersions(root);
  for (const { file, pattern } of PLACES) {
    const full = path.join(root, file);
    if (!existsSync(full)) continue;
    const text = readFileSync(full, 'utf8');
    const changed = text.replaceAll(pattern, (whole, said: string) => whole.replace(said, version));
    if (changed !== text) writeFileSync(full, changed);
  }
}
