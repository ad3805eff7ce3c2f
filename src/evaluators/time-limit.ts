import { createContext, Script } from 'node:vm';
import { ScoringError } from './evaluator.ts';

/** Wall-clock milliseconds that one example may take with an expression or schema that a caller wrote. */
export const TIME_LIMIT_MS = 1_000;

/** The same for building it. Longer, so that a busy machine does not refuse a large schema that is all right. */
const BUILD_LIMIT_MS = 3_000;

/** Runs a function on what was built, for a limited time. */
export type TimeLimited<Resource> = <Result>(use: (resource: Resource) => Result) => Result;

/**
 * Gives limited use of something built from what a caller wrote, such as a compiled schema. Bounds on sizes do not bound
 * the time: a schema of a few lines can take exponential time, and an expression free of backtracking still takes its
 * own size for every character. Node ends synchronous code that outlives a `timeout` of `node:vm`, also in functions from
 * outside (https://nodejs.org/api/vm.html#scriptrunincontextcontextifiedobject-options). It serves here as that
 * stop-watch and not as a sandbox; it takes about 0.1 ms a use.
 *
 * @param build called on the first use, for 3 s at most, and again after a use was cut off: what was
 * interrupted may be left half-changed
 * @param limitMs for one use
 * @returns a function that runs its argument on what was built; it throws what that throws, or `ScoringError` `timed_out`
 */
export function limitTime<Resource>(build: () => Resource, limitMs = TIME_LIMIT_MS): TimeLimited<Resource> {
  const run = createStopwatch();
  let built: { resource: Resource } | undefined;
  return (use) => {
    built ??= { resource: run(build, BUILD_LIMIT_MS) };
    const { resource } = built;
    try {
      return run(() => use(resource), limitMs);
    } catch (error) {
      built = undefined;
      throw error;
    }
  };
}

function createStopwatch(): <Result>(work: () => Result, limitMs: number) => Result {
  const script = new Script('run()');
  const globals = { run: () => {} };
  const context = createContext(globals);
  return <Result>(work: () => Result, limitMs: number): Result => {
    const outcomes: { result: Result }[] = [];
    globals.run = () => {
      outcomes.push({ result: work() });
    };
    try {
      script.runInContext(context, { timeout: limitMs });
    } catch (error) {
      if (!isTimeout(error)) throw error;
    } finally {
      globals.run = () => {};
    }
    const [outcome] = outcomes;
    if (outcome === undefined) throw new ScoringError('timed_out', `took longer than ${limitMs} ms and was stopped`);
    return outcome.result;
  };
}

function isTimeout(error: unknown): boolean {
  // Not `instanceof Error`: the error comes from the other context.
  return (
    typeof error === 'object' && error !== null && 'code' in error && error.code === 'ERR_SCRIPT_EXECUTION_TIMEOUT'
  );
}
