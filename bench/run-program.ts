import { spawn } from 'node:child_process';
import { once } from 'node:events';

/** Runs a program to its end. @returns the end of its output @throws Error with that, if it fails */
export async function runProgram(
  command: string,
  args: readonly string[],
  { cwd, env }: { cwd?: string; env: NodeJS.ProcessEnv },
): Promise<string> {
  const child = spawn(command, args, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => {
      output = (output + text).slice(-4000);
    });
  const [code] = await once(child, 'close');
  if (code !== 0) throw new Error(`${command} ${args.join(' ')} ended with ${code}: ${output}`);
  return output;
}
