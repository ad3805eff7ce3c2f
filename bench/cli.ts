import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { plainEnvironment } from './child.ts';
import { runProgram } from './run-program.ts';
import type { Service } from './service.ts';

const program = fileURLToPath(new URL('../cli/src/main.ts', import.meta.url));

/**
 * `pms eval run --wait` on a dataset whose examples all pass. @returns a function that runs it and returns the seconds it took
 */
export async function prepareCli(
  folder: string,
  { origin, key }: Service,
  { prompt, dataset, examples }: { prompt: string; dataset: string; examples: number },
): Promise<(concurrency: number) => Promise<number>> {
  const environment = { PMS_BASE_URL: origin, PMS_API_KEY: key };
  return async (concurrency) => {
    const file = path.join(folder, 'evaluation.json');
    await writeFile(file, JSON.stringify({ prompt_name: prompt, dataset, concurrency, baseline: null }));
    const args = ['--conditions=pms-source', program, 'eval', 'run', file, '--wait'];
    const started = performance.now();
    const output = await runProgram(process.execPath, args, { env: plainEnvironment(environment) });
    const seconds = (performance.now() - started) / 1000;
    if (!output.includes(`${examples} of ${examples} examples`) || !output.includes('passed: The score is 1.0000'))
      throw new Error(`pms: ${output}`);
    return seconds;
  };
}
