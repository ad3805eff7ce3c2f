import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { DECLARATIONS } from '../src/domain/capabilities.ts';
import type { Declaration } from '../src/domain/capability.ts';
import { findImportCycles } from './import-cycles.ts';
import { type Import, importsOf } from './imports.ts';

// Which parts of src may import which, so that lower layers never depend on higher ones:
//
//   api → http ┐
//   mcp → http ┤
//   admin      ├→ services → db, models, evaluators, temporal, outbound, mail → domain, lib
//   jobs       │
//   activities ┘
//
// Workflows run in their own sandbox, from a bundle of their value imports: only the domain. Services start
// workflows by type, and workflows call activities by type; types don't exist at run time.
//
// In `api` and `services`, a capability may import from those before it in `src/domain/capabilities.ts`, and from folders that no capability
// owns. Types may come from anywhere.
//
// Import cycles are rejected, including those of types: files in a cycle can only be understood together.

/** What a layer may import in addition to itself. Types may come from wherever values may. */
interface Layer {
  /** Paths in src; folders end with a slash. A file belongs to the first layer that matches. */
  files: string[];
  values: string[] | 'everything';
  types?: string[];
  /** The only packages it may import as values, if limited. */
  packages?: string[];
  /** Whether it may read `process.env`. */
  environment?: boolean;
}

const LAYERS: Record<string, Layer> = {
  // Assemble processes from everything else; only these files, and tests, import each other.
  composition: {
    files: [
      'main.ts',
      'worker.ts',
      'dependencies.ts',
      'lifecycle.ts',
      'welcome.ts',
      'metrics.ts',
      'logger.ts',
      'version.ts',
      'api/server.ts',
      'capabilities.ts',
      'capabilities/',
      'admin/main.ts',
      'codec-server/main.ts',
      'db/migrate.ts',
      'workflows/bundle.ts',
    ],
    values: 'everything',
  },
  // A separate process for operators who inspect Temporal.
  'codec server': { files: ['codec-server/'], values: ['http', 'temporal', 'domain', 'lib'] },
  config: {
    files: ['config.ts'],
    values: ['models', 'identity settings', 'domain', 'lib'],
    types: ['outbound', 'telemetry'],
    environment: true,
  },
  api: {
    files: ['api/'],
    values: [
      'http',
      'sign-in',
      'services',
      'db',
      'models',
      'evaluators',
      'temporal',
      'outbound',
      'domain',
      'rules',
      'lib',
    ],
  },
  'identity settings': { files: ['sign-in/provider-settings.ts'], values: ['domain', 'lib'] },
  // Sign-in and session checks through identity providers.
  'sign-in': {
    files: ['sign-in/'],
    values: ['identity settings', 'http', 'services', 'db', 'domain', 'lib'],
    types: ['config'],
  },
  // Another entry point to the operations of the API, which are passed to it: it knows them by id.
  mcp: { files: ['mcp/'], values: ['http', 'services', 'db', 'domain', 'lib'] },
  // Shared by all resources: limits, authentication, parsing, errors. It does not depend on them.
  http: { files: ['http/'], values: ['services', 'db', 'domain', 'lib'] },
  admin: { files: ['admin/'], values: ['services', 'db', 'embedded', 'config', 'domain', 'lib'] },
  activities: {
    files: ['activities/'],
    values: ['services', 'db', 'models', 'evaluators', 'temporal', 'outbound', 'mail', 'domain', 'lib'],
  },
  // Recurring work of every worker: relay, reconciliation, cleanup.
  jobs: { files: ['jobs/'], values: ['services', 'db', 'temporal', 'outbound', 'domain', 'lib'] },
  services: {
    files: ['services/'],
    values: ['db', 'models', 'evaluators', 'temporal', 'outbound', 'mail', 'domain', 'lib'],
    types: ['workflows'],
  },
  workflows: {
    files: ['workflows/'],
    values: ['domain'],
    types: ['activities'],
    packages: ['@temporalio/workflow', '@temporalio/common'],
  },
  // Programs on this machine inherit its environment: PATH, HOME, the cache folder.
  embedded: { files: ['embedded/'], values: [], environment: true },
  // Tracing wraps what it observes; nothing below depends on it.
  telemetry: {
    files: ['telemetry/'],
    values: ['models', 'domain', 'lib'],
    types: ['http', 'outbound', 'evaluators'],
  },
  evaluators: { files: ['evaluators/'], values: ['domain', 'lib'] },
  models: { files: ['models/'], values: ['outbound', 'domain', 'lib'] },
  mail: { files: ['mail/'], values: ['domain', 'lib'] },
  outbound: { files: ['outbound/'], values: ['domain', 'lib'] },
  temporal: { files: ['temporal/'], values: ['domain', 'lib'], types: ['config'] },
  db: { files: ['db/'], values: ['domain', 'lib'] },
  // How prompts are filled: also part of the client, so it imports nothing.
  rules: { files: ['domain/prompt-rules/'], values: [], packages: [] },
  domain: { files: ['domain/'], values: ['rules'] },
  // Independent of this service.
  lib: { files: ['lib/'], values: [] },
};

/** The capabilities' folders of `src/api` and `src/services`, with their positions in the import order. */
const OWNERS = new Map(
  (DECLARATIONS as readonly Declaration[]).flatMap(({ name, folders = [] }, position) =>
    [name, ...folders].map((folder) => [folder, { name, position }] as const),
  ),
);

const COMMENT_LINE = /^[ \t]*(?:\/\/|\/?\*).*$/gm;
const READS_ENVIRONMENT = /\bprocess\.env\b|\bimport\s*\{[^}]*\benv\b[^}]*\}\s*from\s*['"](?:node:)?process['"]/;

function layerOf(file: string): [name: string, layer: Layer] | undefined {
  return Object.entries(LAYERS).find(([, { files }]) =>
    files.some((entry) => (entry.endsWith('/') ? file.startsWith(entry) : file === entry)),
  );
}

/** Resolves a relative import to its path in src. */
function resolveImport(file: string, target: string): string {
  return path.posix.normalize(path.posix.join(path.posix.dirname(file), target));
}

/** The capability that owns a file of `src`. */
function ownerOf(file: string) {
  const [layer = '', folder = ''] = file.split('/');
  return layer === 'api' || layer === 'services' ? OWNERS.get(folder) : undefined;
}

/** Why importing another capability's code as values is not allowed; undefined if it is. */
function orderFaultOf(file: string, imported: string): string | undefined {
  const [owner, other] = [ownerOf(file), ownerOf(imported)];
  if (owner === undefined || other === undefined || other.position <= owner.position) return undefined;
  return `${owner.name} comes before ${other.name} in src/domain/capabilities.ts and may import only its types: move what is shared`;
}

/** Why an import in a file of a layer is not allowed; undefined if it is. */
function faultOf(file: string, name: string, layer: Layer, { target, isType }: Import): string | undefined {
  if (!target.startsWith('.')) {
    if (isType || layer.packages === undefined || layer.packages.includes(target)) return undefined;
    if (layer.packages.length === 0) return `${name} may import no package: the client has them, too`;
    return `${name} may import ${layer.packages.join(' and ')} and types, for nothing else works in their sandbox`;
  }
  const imported = resolveImport(file, target);
  if (imported.startsWith('../')) return 'src is complete in itself: nothing outside of it may be imported';
  const [importedName] = layerOf(imported) ?? [];
  if (importedName === undefined) return 'it is in no layer: add its folder to the table in scripts/check-imports.ts';
  if (importedName === name || layer.values === 'everything' || layer.values.includes(importedName))
    return isType ? undefined : orderFaultOf(file, imported);
  if (layer.types?.includes(importedName))
    return isType ? undefined : `${name} may import types of ${importedName} only: write "import type"`;
  const allowed = [...layer.values, ...(layer.types ?? []).map((other) => `types of ${other}`)];
  return `${name} may import ${allowed.length > 0 ? allowed.join(', ') : 'nothing else of src'}, not ${importedName}`;
}

/** The violations in one file. */
function faultsOf(file: string, source: string, imports: Import[]): string[] {
  const [name, layer] = layerOf(file) ?? [];
  if (name === undefined || layer === undefined)
    return ['it is in no layer: add its folder to the table in scripts/check-imports.ts'];
  const faults = imports.flatMap((each) => {
    const fault = faultOf(file, name, layer, each);
    return fault === undefined ? [] : `imports ${each.target}: ${fault}`;
  });
  if (layer.environment !== true && READS_ENVIRONMENT.test(source))
    faults.push('reads process.env: settings are read in src/config.ts and handed in');
  return faults;
}

/** Every violation in a src folder, as `file: fault`. */
function check(src: string): string[] {
  const faults: string[] = [];
  const graph = new Map<string, string[]>();
  const files = globSync('**/*.ts', { cwd: src }).map((file) => file.replaceAll(path.sep, '/'));
  for (const file of files.sort()) {
    const source = readFileSync(path.join(src, file), 'utf8').replace(COMMENT_LINE, '');
    const imports = importsOf(source);
    faults.push(...faultsOf(file, source, imports).map((fault) => `src/${file}: ${fault}`));
    const relative = imports.filter(({ target }) => target.startsWith('.'));
    graph.set(
      file,
      relative.map(({ target }) => resolveImport(file, target)),
    );
  }
  const cycles = findImportCycles(graph).map(
    (cycle) => `src/${cycle[0]}: is in an import cycle, ${cycle.join(' → ')}: move what is shared to a file of its own`,
  );
  return [...faults, ...cycles];
}

const root = process.argv[2] ?? path.dirname(path.dirname(fileURLToPath(import.meta.url)));
const violations = check(path.join(root, 'src'));
for (const violation of violations) console.error(violation);
if (violations.length > 0) process.exitCode = 1;
