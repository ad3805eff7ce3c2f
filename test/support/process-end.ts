import process from 'node:process';

declare global {
  var atTestProcessEnd: (() => Promise<unknown>)[] | undefined;
}

/** The message with which Jest ends a process (`CHILD_MESSAGE_END` of jest-worker). */
const END = 2;

/**
 * Cleans up what test files of one process share, such as a service, when the process ends. If Jest runs a single file without such a
 * process, the global teardown calls these.
 */
export function atProcessEnd(clean: () => Promise<unknown>): void {
  if (globalThis.atTestProcessEnd === undefined) {
    globalThis.atTestProcessEnd = [];
    // The servers behind shared services are about to be discarded.
    process.on('message', (message: unknown) => {
      if (Array.isArray(message) && message[0] === END) process.exit();
    });
    // Jest was killed.
    process.on('disconnect', () => process.exit());
  }
  globalThis.atTestProcessEnd.push(clean);
}

/** Ends everything that the files of this process have shared. */
export async function endProcess(): Promise<void> {
  for (const clean of globalThis.atTestProcessEnd?.toReversed() ?? []) await clean();
  globalThis.atTestProcessEnd = undefined;
}
