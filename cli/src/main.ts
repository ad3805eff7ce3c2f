#!/usr/bin/env -S node --conditions=pms-source
import process from 'node:process';
import tab from '@bomb.sh/tab/commander';
import { safeText } from './context.ts';
import { endOf } from './exit.ts';
import { createProgram } from './program.ts';

/** Runs the command line. */
async function main(): Promise<void> {
  const { stdin, stdout, stderr, env } = process;
  // Whoever reads has gone, as `head` does.
  stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
  });
  const program = await createProgram({ stdin, stdout, stderr, env }, process.argv[2]);
  tab(program);
  try {
    await program.parseAsync(process.argv);
  } catch (error) {
    const { status, message } = endOf(error);
    if (message !== undefined) stderr.write(`${safeText(message)}\n`);
    process.exitCode = status;
  }
}

await main();
