import { setTimeout as delay } from 'node:timers/promises';
import { Presets, SingleBar } from 'cli-progress';
import { type Api, ConnectionError, type Pms } from 'pms-client';
import type { Context } from '../context.ts';
import { CliError, EXIT } from '../exit.ts';
import { isAtRest, scoreText } from './verdict.ts';

/** Between two looks: at first short, since small runs end soon. */
const FIRST_POLL_MS = 50;
const POLL_MS = 1_000;

/**
 * Waits until a run is at rest, with a bar where somebody watches.
 * @param timeoutSeconds default: for ever
 * @throws CliError where the time is up, or the service can't be reached any more; the run goes on
 */
export async function watchEvaluation(
  pms: Pms,
  id: string,
  { stderr }: Context,
  timeoutSeconds = Number.POSITIVE_INFINITY,
): Promise<Api.Evaluation> {
  const until = Date.now() + timeoutSeconds * 1000;
  const format = '{bar} {value}/{total} examples | score {score} | failed {failed} | {cost} USD';
  const bar = stderr.isTTY
    ? new SingleBar({ stream: stderr, format, clearOnComplete: true, hideCursor: true }, Presets.shades_classic)
    : undefined;
  let isShown = false;
  try {
    for (let pollMs = FIRST_POLL_MS; ; pollMs = Math.min(POLL_MS, pollMs * 2)) {
      const evaluation = await pms.call('getEvaluation', { path: { id } });
      const { examples_total: total, examples_evaluated: done, examples_failed: failed, score, cost } = evaluation;
      const shown = { score: scoreText(score), failed, cost: cost.amount ?? '?' };
      if (isShown) bar?.update(done, shown);
      else bar?.start(total, done, shown);
      isShown = true;
      if (isAtRest(evaluation)) return evaluation;
      if (Date.now() >= until)
        throw new CliError(EXIT.service, `${id} has not ended in time; it goes on: pms eval watch ${id}`);
      await delay(Math.min(pollMs, Math.max(0, until - Date.now())));
    }
  } catch (error) {
    if (!(error instanceof ConnectionError)) throw error;
    throw new CliError(EXIT.service, `${error.message}; ${id} goes on without pms: pms eval watch ${id}`, {
      cause: error,
    });
  } finally {
    bar?.stop();
  }
}
