import {
  CancellationScope,
  condition,
  continueAsNew,
  defineQuery,
  defineSignal,
  proxyActivities,
  proxyLocalActivities,
  setCurrentDetails,
  setHandler,
  workflowInfo,
} from '@temporalio/workflow';
import type { ReleaseActivities, ReleaseView } from '../activities/release-prompt/release.ts';
import { clockText } from '../domain/text/clock-text.ts';
import { durationText } from '../domain/text/duration-text.ts';
import { LOCAL_STEP } from './local-steps.ts';

export interface ReleasePromptInput {
  /** UUID of the row in `releases`: what is to be done is there, not in the history. */
  releaseId: string;
  /** Only for operators. */
  what: string;
  /** A step whose time has begun, and when it is over, in ms since 1970: of the run that this one continues. */
  reached?: { step: number; due: number };
  /** When to continue as new. The default is far below Temporal's limit of 51,200 events. */
  maxHistoryEvents?: number;
}

/** The row was changed by a request. The workflow then reads it, so signals may be repeated. */
export const controlChanged = defineSignal('controlChanged');
/** Where the release is, as shown in the current details. */
export const progressQuery = defineQuery<string>('progress');

const MAX_HISTORY_EVENTS = 8_000;
/** How often a waiting release reads its row without a signal: whoever changed it may have been unable to send one. */
const LOOK_AGAIN_MS = 6 * 60 * 60_000;
/** How soon after each other evaluations are looked at: a short one ends soon, and a long one is looked at now and then. */
const FIRST_LOOK_MS = 1_000;
const MAX_LOOK_MS = 30_000;

const step = <Name extends keyof ReleaseActivities>(name: Name, summary: string) =>
  proxyLocalActivities<ReleaseActivities>({ ...LOCAL_STEP, startToCloseTimeout: '1 minute', summary })[name];

const readRelease = step('readRelease', 'reads what is to be done');
// Two runs of a million examples each take a while to compare.
const { evaluate } = proxyActivities<Pick<ReleaseActivities, 'evaluate'>>({
  summary: 'starts the evaluations, or reads what they came to',
  startToCloseTimeout: '5 minutes',
  retry: { initialInterval: '1 second', backoffCoefficient: 2, maximumInterval: '1 minute' },
});
const openCanary = step('openCanary', 'gives the candidate to its share');
const checkNumbers = step('checkNumbers', 'compares the arms');
const endWait = step('endWait', 'ends the wait');
const promote = step('promote', 'moves the label');
const expire = step('expire', 'rolls back: the deadline has passed');
const fail = step('fail', 'rolls back: the workflow was canceled');

/**
 * Brings a version to a label by the steps of its release. It only moves rows on: who gets which version, and what people decide, is
 * in PostgreSQL. Where the workflow is canceled from outside, the release fails, and everybody gets the stable version.
 */
export async function releasePrompt(input: ReleasePromptInput): Promise<void> {
  const told = { changed: false };
  const canceled = CancellationScope.current().cancelRequested;
  let isCanceled = false;
  canceled.catch(() => {
    isCanceled = told.changed = true;
  });
  await CancellationScope.nonCancellable(() => runSteps(input, told, () => isCanceled));
  // Temporal shows a run that was canceled as such.
  if (isCanceled) await canceled;
}

async function runSteps(
  { releaseId, what, maxHistoryEvents = MAX_HISTORY_EVENTS, reached }: ReleasePromptInput,
  told: { changed: boolean },
  isCanceled: () => boolean,
): Promise<void> {
  let shown = 'starting';
  let deadline: number | undefined;
  const isHistoryFull = () => workflowInfo().historyLength > maxHistoryEvents;
  setHandler(controlChanged, () => {
    told.changed = true;
  });
  setHandler(progressQuery, () => shown);
  const show = ({ details }: ReleaseView, wait: string) => {
    shown = [details, wait, `as of ${clockText(Date.now())}`].filter((part) => part !== '').join('\n\n');
    setCurrentDetails(shown);
  };

  for (;;) {
    told.changed = false;
    if (isCanceled()) await fail(releaseId);
    const now = await readRelease(releaseId);
    if (now === null) return;
    show(now, '');
    if (now.state === 'ended') return;
    if (isHistoryFull())
      await continueAsNew<typeof releasePrompt>({ releaseId, what, maxHistoryEvents, ...(reached && { reached }) });

    // By the clock of the workflow, from when it was first read.
    deadline = now.deadlineMs === null ? Number.POSITIVE_INFINITY : (deadline ?? Date.now() + now.deadlineMs);
    const latest = deadline;
    /** Until something changes, the deadline or, at last, `ms` are over. @returns whether nothing has changed */
    const wait = async (ms: number, why: string): Promise<boolean> => {
      const span = Math.max(0, Math.min(ms, latest - Date.now()));
      const until = `${why} until ${clockText(Date.now() + span)}`;
      show(now, until);
      if (span > 0)
        await condition(() => told.changed, span, { summary: `${now.summary}; ${why}, ${durationText(span)}` });
      if (!told.changed && Date.now() >= latest) await expire(releaseId);
      return !told.changed && Date.now() < latest;
    };
    /** Lets the step's time pass, and looks at its numbers meanwhile. @returns whether it is over, and nothing has changed */
    const watch = async (why: string): Promise<boolean> => {
      if (reached?.step !== now.step) reached = { step: now.step, due: Date.now() + now.waitMs };
      const every = now.checkEveryMs;
      for (;;) {
        const left = reached.due - Date.now();
        const looks = every !== null || (left <= 0 && now.type === 'promote');
        if (looks && !(await checkNumbers(releaseId, now.step, left <= 0))) return false;
        // An analysis ends by a check, which may wait for more executions.
        if (left <= 0 && now.type !== 'analyze') return true;
        const ms = left > 0 ? Math.min(left, every ?? left) : (every ?? LOOK_AGAIN_MS);
        if (!(await wait(ms, why)) || isHistoryFull()) return false;
      }
    };

    if (now.state === 'waiting') {
      const every = now.checkEveryMs;
      for (;;) {
        if (every !== null && !(await checkNumbers(releaseId, now.step, false))) break;
        const isUnchanged = await wait(every ?? LOOK_AGAIN_MS, 'waits for people');
        if (!isUnchanged || every === null || isHistoryFull()) break;
      }
      continue;
    }
    switch (now.type) {
      case 'evaluate': {
        for (let ms = FIRST_LOOK_MS; ; ms = Math.min(ms * 2, MAX_LOOK_MS)) {
          if (now.checkEveryMs !== null && !(await checkNumbers(releaseId, now.step, false))) break;
          const running = await evaluate(releaseId, now.step);
          if (running === null || !(await wait(ms, running))) break;
        }
        break;
      }
      case 'approve':
        // It is asked for where the step before ends; then the release waits.
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
