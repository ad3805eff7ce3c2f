import { existsSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import { plainEnvironment } from './child.ts';
import { runProgram } from './run-program.ts';

const home = fileURLToPath(new URL('promptfoo', import.meta.url));
const program = path.join(home, 'node_modules', 'promptfoo', 'dist', 'src', 'entrypoint.js');

const Lock = z.object({ packages: z.record(z.string(), z.object({ version: z.string().optional() })) });
const Results = z.object({
  results: z.object({ stats: z.object({ successes: z.int(), failures: z.int(), errors: z.int() }) }),
});

/** A question and its expected answer. */
export interface Question {
  id: string;
  number: number;
  expected: string;
}

const run = (command: string, args: readonly string[], env: Record<string, string> = {}) =>
  runProgram(command, args, { cwd: home, env: plainEnvironment(env) });

/**
 * The only optional package needed is SQLite for this platform; the others are more than a gigabyte.
 * @returns its program
 */
export async function installPromptfoo(): Promise<string> {
  if (existsSync(program)) return program;
  const { packages } = Lock.parse(JSON.parse(await readFile(path.join(home, 'package-lock.json'), 'utf8')));
  const sqlite = `@libsql/${process.platform}-${process.arch}${process.platform === 'linux' ? '-gnu' : ''}`;
  const version = packages[`node_modules/${sqlite}`]?.version;
  if (version === undefined) throw new Error(`promptfoo does not run here: there is no ${sqlite}.`);
  const options = ['--no-save', '--ignore-scripts', '--omit=optional', '--no-audit', '--no-fund'];
  await run('npm', ['install', ...options, `${sqlite}@${version}`]);
  return program;
}

/** `promptfoo eval` with the same questions, in a separate folder. Installs it first if it is missing. */
export async function preparePromptfoo(
  folder: string,
  {
    modelUrl,
    template,
    model,
    questions,
  }: { modelUrl: string; template: string; model: string; questions: Question[] },
): Promise<(concurrency: number) => Promise<number>> {
  await installPromptfoo();
  await mkdir(folder);
  const [config, output] = [path.join(folder, 'promptfooconfig.json'), path.join(folder, 'output.json')];
  await writeFile(
    config,
    JSON.stringify({
      prompts: [template],
      providers: [{ id: `openai:chat:${model}`, config: { apiBaseUrl: modelUrl, apiKey: 'x' } }],
      tests: questions.map(({ number, expected }) => ({
        vars: { number },
        assert: [{ type: 'equals', value: expected }],
      })),
    }),
  );
  const environment = {
    PROMPTFOO_DISABLE_TELEMETRY: '1',
    PROMPTFOO_DISABLE_UPDATE: '1',
    PROMPTFOO_CONFIG_DIR: path.join(folder, 'state'),
  };

  /** @returns seconds */
  return async (concurrency) => {
    const options = ['--no-cache', '--no-table', '--no-progress-bar', '-j', String(concurrency)];
    const started = performance.now();
    await run(process.execPath, [program, 'eval', '-c', config, '-o', output, ...options], environment);
    const seconds = (performance.now() - started) / 1000;
    const { stats } = Results.parse(JSON.parse(await readFile(output, 'utf8'))).results;
    if (stats.successes !== questions.length) throw new Error(`promptfoo: ${JSON.stringify(stats)}`);
    return seconds;
  };
}
