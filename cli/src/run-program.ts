import { CommanderError } from 'commander';
import type { Context } from './context.ts';
import { EXIT } from './exit-status.ts';
import { createProgram } from './program.ts';

// Commander has already printed the error or the help.
const statusOf = ({ exitCode }: CommanderError) => (exitCode === 0 ? EXIT.passed : EXIT.usage);

/** Reports the error that ended a command. @returns the exit status */
async function tell(error: unknown, { stderr }: Context): Promise<number> {
  // Imported here because loading the client's errors takes longer than showing the help.
  const [{ endOf }, { safeText }] = await Promise.all([import('./exit.ts'), import('./context.ts')]);
  const { status, message } = endOf(error);
  stderr.write(`${safeText(message)}\n`);
  return status;
}

/** Runs a command. @param args without the names of the interpreter and the program @returns the exit status */
export async function runProgram(context: Context, args: readonly string[]): Promise<number> {
  try {
    const program = await createProgram(context, [...args]);
    await program.parseAsync(args, { from: 'user' });
    return EXIT.passed;
  } catch (error) {
    return error instanceof CommanderError ? statusOf(error) : tell(error, context);
  }
}
