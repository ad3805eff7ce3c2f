import process from 'node:process';

declare global {
  var atTestProcessEnd: (() => Promise<unknown>)[] | undefined;
}

/** By which Jest tells a process that it is not needed any more (`CHILD_MESSAGE_END` of jest-worker). */
const END = 2;

/**
 * For what test files share that run in one process, such as a service: it ends with the process. Where Jest runs a single file it has no
 * process for it: then the global teardown calls these.
 */
export function atProcessEnd(clean: () => Promise<unknown>): void {
  if (globalThis.atTestProcessEnd === undefined) {
    globalThis.atTestProcessEnd = [];
    // The servers behind what is shared are thrown away in a moment.
    process.on('message', (message: unknown) => {
      if (Array.isArray(message) && message[0] === END) process.exit();
    });
    // Jest was killed.
    process.on('disconnect', () => process.exit());
  }
  globalThis.atTestProcessEnd.push(clean);
}

/** Ends what the files of this process have shared. */
export async function endProcess(): Promise<void> {
  for (const clean of globalThis.atTestProcessEnd?.toReversed() ?? []) await clean();
  globalThis.atTestProcessEnd = undefined;
}
