import { continueAsNew, proxyActivities, proxyLocalActivities } from '@temporalio/workflow';
import type { ReleaseActivities, ReleaseView } from '../activities/release-prompt/release.ts';
import { clockText } from '../domain/text/clock-text.ts';
import { durationText } from '../domain/text/duration-text.ts';
import { type FollowedRow, followRow, POLL_AGAIN_MS } from './follow-row.ts';
import { LOCAL_STEP } from './local-steps.ts';

export interface ReleasePromptInput {
  /** UUID of the row in `releases`, which says what to do; the history does not. */
  releaseId: string;
  /** Only for operators. */
  what: string;
  /** The current step of the run that this one continues, and when its time is over, in ms since 1970. */
  reached?: { step: number; due: number };
  /** When to continue as new. The default is far below Temporal's limit of 51,200 events. */
  maxHistoryEvents?: number;
}

const MAX_HISTORY_EVENTS = 8_000;
/** The interval between polls of evaluations starts here and grows, because short ones end soon. */
const FIRST_POLL_MS = 1_000;
const MAX_POLL_MS = 30_000;

const step = <Name extends keyof ReleaseActivities>(name: Name, summary: string) =>
  proxyLocalActivities<ReleaseActivities>({ ...LOCAL_STEP, startToCloseTimeout: '1 minute', summary })[name];

const readRelease = step('readRelease', 'reads the next action');
// Comparing two runs of a million examples each takes a while.
const { evaluate } = proxyActivities<Pick<ReleaseActivities, 'evaluate'>>({
  summary: 'starts the evaluations, or reads their results',
  startToCloseTimeout: '5 minutes',
  // Detects a dead worker soon.
  heartbeatTimeout: '10 seconds',
  retry: { initialInterval: '1 second', backoffCoefficient: 2, maximumInterval: '1 minute' },
});
const openCanary = step('openCanary', 'gives the candidate to its share');
const checkNumbers = step('checkNumbers', 'compares the arms');
const endWait = step('endWait', 'ends the wait');
const promote = step('promote', 'moves the label');
const expire = step('expire', 'rolls back: the deadline has passed');
const fail = step('fail', 'rolls back: the workflow was canceled');

/**
 * Rolls a version out to a label in the steps of its release. It only advances rows: the assignment of versions and the decisions
 * of people are in PostgreSQL. If the workflow is canceled from outside, the release fails, and all callers get the stable version.
 */
export function releasePrompt(input: ReleasePromptInput): Promise<void> {
  const { releaseId, maxHistoryEvents = MAX_HISTORY_EVENTS } = input;
  const following = { read: () => readRelease(releaseId), end: () => fail(releaseId), maxHistoryEvents };
  return followRow(following, (row) => runSteps(row, { ...input, maxHistoryEvents }));
}

async function runSteps(row: FollowedRow<ReleaseView>, input: ReleasePromptInput): Promise<void> {
  const { releaseId } = input;
  let { reached } = input;
  let deadline: number | undefined;
  for (;;) {
    const now = await row.read();
    if (now === null) return;
    row.show(now.details);
    if (now.state === 'ended') return;
    if (row.isHistoryFull) await continueAsNew<typeof releasePrompt>({ ...input, ...(reached && { reached }) });

    // By the workflow's clock, from when it was first read.
    deadline = now.deadlineMs === null ? Number.POSITIVE_INFINITY : (deadline ?? Date.now() + now.deadlineMs);
    const latest = deadline;
    /** Waits until something changes, the deadline passes or `ms` are over. @returns whether nothing has changed */
    const wait = async (ms: number, why: string): Promise<boolean> => {
      const span = Math.max(0, Math.min(ms, latest - Date.now()));
      const until = `${why} until ${clockText(Date.now() + span)}`;
      row.show(now.details, until);
      if (span > 0) await row.wait(span, `${now.summary}; ${why}, ${durationText(span)}`);
      if (!row.isChanged && Date.now() >= latest) await expire(releaseId);
      return !row.isChanged && Date.now() < latest;
    };
    /** Waits out the step's time while checking its numbers. @returns whether it is over and nothing has changed */
    const watch = async (why: string): Promise<boolean> => {
      if (reached?.step !== now.step) reached = { step: now.step, due: Date.now() + now.waitMs };
      const every = now.checkEveryMs;
      for (;;) {
        const left = reached.due - Date.now();
        const looks = every !== null || (left <= 0 && now.type === 'promote');
        if (looks && !(await checkNumbers(releaseId, now.step, left <= 0))) return false;
        // An analysis ends with a check, which may wait for more executions.
        if (left <= 0 && now.type !== 'analyze') return true;
        const ms = left > 0 ? Math.min(left, every ?? left) : (every ?? POLL_AGAIN_MS);
        if (!(await wait(ms, why)) || row.isHistoryFull) return false;
      }
    };

    if (now.state === 'waiting') {
      const every = now.checkEveryMs;
      for (;;) {
        if (every !== null && !(await checkNumbers(releaseId, now.step, false))) break;
        const isUnchanged = await wait(every ?? POLL_AGAIN_MS, 'waits for people');
        if (!isUnchanged || every === null || row.isHistoryFull) break;
      }
      continue;
    }
    switch (now.type) {
      case 'evaluate': {
        for (let ms = FIRST_POLL_MS; ; ms = Math.min(ms * 2, MAX_POLL_MS)) {
          if (now.checkEveryMs !== null && !(await checkNumbers(releaseId, now.step, false))) break;
          const running = await evaluate(releaseId, now.step);
          if (running === null || !(await wait(ms, running))) break;
        }
        break;
      }
      case 'approve':
        // Requested at the end of the step before; the release then waits.
        break;
      case 'canary':
        await openCanary(releaseId, now.step);
        break;
      case 'analyze':
        await watch('measures');
        break;
      case 'wait':
        if (await watch('waits')) await endWait(releaseId, now.step);
        break;
      case 'promote':
        if (!now.isBaking) await promote(releaseId, now.step);
        else await watch('bakes');
        break;
    }
  }
}
