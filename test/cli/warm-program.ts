import '../../cli/src/node-20.ts';
import process from 'node:process';
import { Readable, Writable } from 'node:stream';
import { runProgram } from '../../cli/src/run-program.ts';
import type { Ended } from './support.ts';

/** What to run, one after the other. */
export interface Asked {
  args: string[];
  folder: string;
  env: Record<string, string | undefined>;
  input: string;
}

/** Runs `pms` again and again in this process, each time with another folder and environment. Loading its modules takes most of the time. */
process.on('message', async ({ args, folder, env, input }: Asked) => {
  const ended: Ended = { status: null, stdout: '', stderr: '' };
  const collect = (name: 'stdout' | 'stderr') =>
    new Writable({
      decodeStrings: false,
      write(chunk: string | Buffer, _, done) {
        ended[name] += chunk.toString();
        done();
      },
    });
  process.chdir(folder);
  for (const name of Object.keys(process.env)) if (env[name] === undefined) delete process.env[name];
  Object.assign(process.env, env);
  const streams = { stdin: Readable.from([Buffer.from(input)]), stdout: collect('stdout'), stderr: collect('stderr') };
  ended.status = await runProgram({ ...streams, env: process.env }, args);
  process.send?.(ended);
});
