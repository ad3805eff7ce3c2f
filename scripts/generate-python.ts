import path from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { pythonWith, run } from './python.ts';

/** Runs `scripts/generate.py` of the Python client with the packages that it needs. Passes on its arguments. */
async function main(): Promise<void> {
  const client = fileURLToPath(new URL('../clients/python', import.meta.url));
  const python = await pythonWith(path.join(client, 'requirements-dev.txt'));
  const { code, output } = await run(python, ['scripts/generate.py', ...process.argv.slice(2)], { cwd: client });
  process.stderr.write(output);
  process.exitCode = code ?? 1;
}

await main().catch((error: unknown) => {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
});
