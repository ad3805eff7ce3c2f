#!/usr/bin/env -S node --conditions=pms-source
import './node-20.ts';
import process from 'node:process';
import { CommanderError } from 'commander';
import { EXIT } from './exit-status.ts';
import { createProgram } from './program.ts';

// Commander has already printed the error or the help.
const statusOf = ({ exitCode }: CommanderError) => (exitCode === 0 ? EXIT.passed : EXIT.usage);

/** Reports the error that ended a command. @returns the exit status */
async function tell(error: unknown): Promise<number> {
  // Imported here because loading the client's errors takes longer than showing the help.
  const [{ endOf }, { safeText }] = await Promise.all([import('./exit.ts'), import('./context.ts')]);
  const { status, message } = endOf(error);
  process.stderr.write(`${safeText(message)}\n`);
  return status;
}

/** Runs the command line. */
async function main(): Promise<void> {
  const { stdin, stdout, stderr, env } = process;
  // The reader has closed the pipe, as `head` does.
  stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
  });
  try {
    const program = await createProgram({ stdin, stdout, stderr, env }, process.argv.slice(2));
    await program.parseAsync(process.argv);
  } catch (error) {
    process.exitCode = error instanceof CommanderError ? statusOf(error) : await tell(error);
  }
}

await main();
