import process from 'node:process';
import { setTimeout as delay } from 'node:timers/promises';
import { Presets, SingleBar } from 'cli-progress';
import { type Api, ConnectionError, type Pms, ServiceError } from 'pms-client';
import type { Context } from '../context.ts';
import { CliError, EXIT } from '../exit.ts';
import { createBatchTeller, shortBatches } from './batches.ts';
import { isAtRest, scoreText } from './verdict.ts';

/** Poll interval, initially short because small runs end soon. */
const FIRST_POLL_MS = 50;
const POLL_MS = 1_000;
/** Batches take hours. */
const BATCH_POLL_MS = 10_000;
/** For a poll that starts just before the timeout. */
const LAST_POLL_MS = 5_000;

/** The run, unless the service is unavailable until the timeout. */
async function readUntil(pms: Pms, id: string, until: number, interrupted: AbortSignal): Promise<Api.Evaluation> {
  const read = (signal: AbortSignal) => pms.call('getEvaluation', { path: { id } }, { signal });
  if (until === Number.POSITIVE_INFINITY) return read(interrupted);
  const late = AbortSignal.timeout(Math.max(0, until - Date.now()) + LAST_POLL_MS);
  try {
    return await read(AbortSignal.any([late, interrupted]));
  } catch (error) {
    throw late.aborted && !interrupted.aborted ? notInTime(id, error) : error;
  }
}

const notInTime = (id: string, cause?: unknown) =>
  new CliError(EXIT.service, `Timed out; ${id} is still running: pms eval watch ${id}`, { cause });

/**
 * Waits until a run is at rest, with a progress bar on a terminal. Ctrl-C ends only the wait.
 * @param timeoutSeconds default: no limit
 * @throws CliError after the timeout, if the service can no longer be reached, or on Ctrl-C; the run continues
 */
export async function watchEvaluation(
  pms: Pms,
  id: string,
  { stderr }: Context,
  timeoutSeconds = Number.POSITIVE_INFINITY,
): Promise<Api.Evaluation> {
  const until = Date.now() + timeoutSeconds * 1000;
  const format = '{bar} {value}/{total} examples | score {score} | failed {failed} | {cost} USD{batches}';
  const bar = stderr.isTTY
    ? new SingleBar(
        { stream: stderr, format, clearOnComplete: true, hideCursor: true, gracefulExit: false },
        Presets.shades_classic,
      )
    : undefined;
  // With a progress bar, the state of batches is shown in place.
  const reportBatches = bar === undefined ? createBatchTeller(stderr) : () => {};
  let isShown = false;
  const interrupt = new AbortController();
  const onInterrupt = () => interrupt.abort();
  process.once('SIGINT', onInterrupt);
  try {
    for (let pollMs = FIRST_POLL_MS; ; pollMs *= 2) {
      const evaluation = await readUntil(pms, id, until, interrupt.signal);
      const { examples_total: total, examples_evaluated: done, examples_failed: failed, score, cost } = evaluation;
      const shown = { score: scoreText(score), failed, cost: cost.amount ?? '?', batches: shortBatches(evaluation) };
      reportBatches(evaluation);
      if (isShown) bar?.update(done, shown);
      else bar?.start(total, done, shown);
      isShown = true;
      if (isAtRest(evaluation)) return evaluation;
      if (Date.now() >= until) throw notInTime(id);
      pollMs = Math.min(pollMs, evaluation.batch === null ? POLL_MS : BATCH_POLL_MS);
      await delay(Math.min(pollMs, Math.max(0, until - Date.now())), undefined, { signal: interrupt.signal });
    }
  } catch (error) {
    if (interrupt.signal.aborted)
      throw new CliError(
        EXIT.interrupted,
        `Detached. ${id} is still running; attach again with: pms eval watch ${id}`,
        {
          cause: error,
        },
      );
    if (!(error instanceof ConnectionError || error instanceof ServiceError)) throw error;
    throw new CliError(EXIT.service, `${error.message}; ${id} continues without pms: pms eval watch ${id}`, {
      cause: error,
    });
  } finally {
    process.off('SIGINT', onInterrupt);
    bar?.stop();
  }
}
