import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { fileInside, readText } from '../source-files.ts';
import type { Scorer } from './scorer.ts';

const MAX_FILE_BYTES = 1024 * 1024;
const HERE = fileURLToPath(import.meta.url);
/** Its programs, next to this file: TypeScript if this file is, otherwise the compiled form. */
const PROGRAMS = ['server', 'run-assert', 'run-python'];

const README = `# A scorer

It runs asserts of promptfoo for evaluations: "asserts.json" has them, and "files" the files with code that they name. Copy
there what these files import, and install the packages that they need.

    SCORER_SECRET=… PORT=8080 npm start

It needs Node.js 24, and Python 3 as "python3" (or what PYTHON names) for asserts in Python. Requests that are not signed with
the secret are refused. The code runs with all rights of the process: run it where it can do no harm.

The service asks it by the URLs of the evaluators. Where these begin with https://scorer.invalid, put its own address there.
"pms eval run" signs with what SCORER_SECRET is there.
`;

const json = (value: unknown) => `${JSON.stringify(value, null, 2)}\n`;

/**
 * The files of a project that serves the evaluator `http` by running asserts: texts by their paths in it. Undefined if there is
 * nothing to run.
 * @param folder of the configuration and its files with code
 */
export async function scorerProject(
  { asserts, files }: Scorer,
  { folder, parsesJson }: { folder: string; parsesJson: boolean },
): Promise<Map<string, string> | undefined> {
  if (Object.keys(asserts).length === 0) return undefined;
  const extension = path.extname(HERE);
  const manifest = {
    name: 'promptfoo-scorer',
    private: true,
    type: 'module',
    engines: { node: '>=24' },
    scripts: { start: `node server${extension}` },
  };
  const project = new Map([
    ['README.md', README],
    ['package.json', json(manifest)],
    ['asserts.json', json({ parsesJson, asserts })],
    // No `type`: each file's syntax determines its module kind.
    ['files/package.json', json({ private: true })],
  ]);
  for (const name of PROGRAMS) {
    const file = `${name}${extension}`;
    project.set(file, await readText({ path: path.join(path.dirname(HERE), 'scorer', file), name: file }));
  }
  for (const name of files) {
    const file = await fileInside(folder, name);
    if (file !== undefined) project.set(`files/${path.posix.normalize(name)}`, await readText(file, MAX_FILE_BYTES));
  }
  return project;
}
