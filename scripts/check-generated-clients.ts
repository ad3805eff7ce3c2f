import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { findOnPath } from '../src/embedded/programs/programs.ts';
import { installedTools } from './installed-tools.ts';
import { pythonWith, run } from './python.ts';

// Makes clients of openapi.json with generators that others use, and compiles them: openapi-typescript and orval (TypeScript),
// openapi-python-client (Python), oapi-codegen (Go) and openapi-generator (Java). None of their types may be called by a number, as those are that
// have no name in the document. What is made is thrown away. It needs Python 3.10 with venv, Go 1.26, and for Java, which is left out without it,
// Maven with Java 11; -- --only NAME makes one of them.

const root = fileURLToPath(new URL('..', import.meta.url));
const document = path.join(root, 'openapi.json');
const tools = path.join(root, 'tools/generated-clients');

/** The folder of a client. */
interface Place {
  folder: string;
  node: (program: string, args: string[], env?: NodeJS.ProcessEnv) => Promise<void>;
}

async function succeed(program: string, args: string[], options: Parameters<typeof run>[2] = {}): Promise<string> {
  const { code, output } = await run(program, args, options);
  if (code !== 0)
    throw new Error(`${path.basename(program)} ${args.join(' ')} ended with ${code}:\n${output.slice(0, 4000)}`);
  return output;
}

/** @throws Error where a type is called by a number that its schema has not */
function refuseNumbered(folder: string, pattern: RegExp): void {
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((file) =>
    /\.(ts|py|go|java)$/.test(file),
  );
  const found = files.flatMap((file) => readFileSync(path.join(folder, file), 'utf8').match(pattern) ?? []);
  if (found.length > 0)
    throw new Error(`Types have no names in openapi.json: ${[...new Set(found)].slice(0, 20).join(', ')}`);
}

async function compileTypeScript({ folder, node }: Place): Promise<void> {
  cpSync(path.join(tools, 'tsconfig.json'), path.join(folder, 'tsconfig.json'));
  await node('typescript/bin/tsc', ['--project', folder]);
}

const CLIENTS: Record<string, (place: Place) => Promise<void>> = {
  async 'openapi-typescript'(place) {
    await place.node('openapi-typescript/bin/cli.js', [document, '--output', path.join(place.folder, 'schema.ts')]);
    await compileTypeScript(place);
  },

  async orval(place) {
    const config = path.join(tools, 'orval.config.mjs');
    const env = { OPENAPI: document, OUTPUT: place.folder };
    await place.node('orval/dist/bin/orval.mjs', ['--config', config], env);
    await compileTypeScript(place);
    refuseNumbered(place.folder, /export (?:type|interface) \w*(?:AnyOf|OneOf)\w*/g);
  },

  async 'openapi-python-client'({ folder }) {
    const python = await pythonWith(path.join(tools, 'requirements.txt'));
    const made = path.join(folder, 'pms_generated');
    const config = path.join(tools, 'openapi-python-client.yaml');
    const args = ['generate', '--path', document, '--meta', 'none', '--config', config, '--output-path', made];
    await succeed(python, ['-m', 'openapi_python_client', ...args, '--fail-on-warning']);
    // It casts what needs none.
    await succeed(python, ['-m', 'mypy', '--strict', '--no-warn-redundant-casts', '--cache-dir', '.mypy', made], {
      cwd: folder,
    });
    const source =
      'import importlib, pkgutil, pms_generated as made\nfor each in pkgutil.walk_packages(made.__path__, "pms_generated."): importlib.import_module(each.name)';
    await succeed(python, ['-c', source], { cwd: folder });
    refuseNumbered(made, /class \w*Type\d\w*/g);
  },

  async 'oapi-codegen'({ folder }) {
    for (const file of ['go.mod', 'go.sum']) cpSync(path.join(tools, file), path.join(folder, file));
    const made = path.join(folder, 'pms');
    mkdirSync(made);
    const env = { GOWORK: 'off', GOFLAGS: '-mod=mod', CGO_ENABLED: '0' };
    const args = [
      'tool',
      'oapi-codegen',
      '-generate',
      'types,client',
      '-package',
      'pms',
      '-o',
      path.join(made, 'pms.go'),
    ];
    await succeed('go', [...args, document], { cwd: tools, env: { ...env, GOFLAGS: '-mod=readonly' } });
    await succeed('go', ['vet', './pms'], { cwd: folder, env });
    // Texts, numbers and lists in a union get a number from it; objects have names.
    refuseNumbered(made, /^type \w+(?<!json_schema)\d+ (?:struct|map)\b/gm);
  },

  async java({ folder }) {
    cpSync(path.join(tools, 'pom.xml'), path.join(folder, 'pom.xml'));
    const suited = path.join(folder, 'openapi.json');
    await succeed(process.execPath, [path.join(tools, 'suit-java.mjs'), document, suited]);
    await succeed('mvn', ['--batch-mode', '--quiet', 'compile'], { cwd: folder });
    // What is answered with 201 is called CreateScores201Response.
    const made = path.join(folder, 'target/generated-sources/openapi/src/main/java/pms/model');
    refuseNumbered(
      made,
      /^public (?:abstract )?(?:class|enum|interface) (?:\w*(?:AnyOf|OneOf|AllOf|Inline)\w*|\w+\d)\b/gm,
    );
  },
};

async function main(only: string | undefined): Promise<void> {
  const modules = await installedTools('generated-clients');
  const names = Object.keys(CLIENTS).filter((name) => only === undefined || name === only);
  if (names.length === 0) throw new Error(`There is no ${only}: ${Object.keys(CLIENTS).join(', ')}`);
  for (const name of names) {
    if (name === 'java' && only === undefined && !(await findOnPath('mvn', process.env))) {
      console.log('java: left out, there is no Maven');
      continue;
    }
    const folder = mkdtempSync(path.join(tmpdir(), 'pms-generated-'));
    try {
      await CLIENTS[name]?.({
        folder,
        async node(program, args, env = {}) {
          await succeed(process.execPath, [path.join(modules, program), ...args], { cwd: folder, env });
        },
      });
      console.log(`${name}: its client compiles.`);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  }
}

const at = process.argv.indexOf('--only');
await main(at === -1 ? undefined : process.argv[at + 1]).catch((error: unknown) => {
  console.error(error instanceof Error ? error.message : String(error));
  process.exitCode = 1;
});
