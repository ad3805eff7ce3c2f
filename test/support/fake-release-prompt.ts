import type { WorkflowHandle } from '@temporalio/client';
import type { ReleaseActivities, ReleaseView } from '../../src/activities/release-prompt/release.ts';
import type { ReleaseStepType } from '../../src/domain/releases/release.ts';
import { progressQuery } from '../../src/workflows/follow-row.ts';
import type { ReleasePromptInput } from '../../src/workflows/release-prompt.ts';
import type { Path } from './histories.ts';
import { until } from './wait-for.ts';

/** A step for the fake release. */
export interface FakeStep {
  type: ReleaseStepType;
  /** How long it lasts. Default: 0 */
  waitMs?: number;
  /** The interval of checks. Default: none */
  checkEveryMs?: number;
  /** For `promote`: how long it bakes. Default: not at all. */
  bakeMs?: number;
  /** Polls of evaluations until they have ended. Default: 1 */
  looks?: number;
  /** Checks of the numbers after the due time until there are enough executions. Default: 0 */
  lateLooks?: number;
  /** The check, from 1, that rolls back. Default: none */
  failsAt?: number;
}

/** The actions of a workflow on a release. */
export class FakeRelease {
  readonly did: string[] = [];
  status: 'at work' | 'waiting' | 'ended' = 'at work';
  step = 0;
  isBaking = false;
  checks = 0;
  looks = 0;
  readonly #steps: readonly FakeStep[];
  readonly #deadlineMs: number | null;

  constructor(steps: readonly FakeStep[], deadlineMs: number | null = null) {
    this.#steps = steps;
    this.#deadlineMs = deadlineMs;
    this.#arrive();
  }

  get #current(): FakeStep {
    return this.#steps[this.step] ?? { type: 'promote' };
  }

  #arrive(): void {
    this.checks = this.looks = 0;
    if (this.#current.type === 'approve') this.status = 'waiting';
  }

  next(): void {
    this.step += 1;
    this.status = 'at work';
    if (this.step === this.#steps.length) this.end('succeeded');
    else this.#arrive();
  }

  end(how: string): void {
    this.status = 'ended';
    this.did.push(how);
  }

  view(): ReleaseView {
    const { type, waitMs = 0, checkEveryMs = null, bakeMs = 0 } = this.#current;
    return {
      state: this.status,
      step: Math.min(this.step, this.#steps.length - 1),
      type,
      isBaking: this.isBaking,
      waitMs: type === 'promote' ? bakeMs : waitMs,
      checkEveryMs,
      deadlineMs: this.isBaking ? null : this.#deadlineMs,
      details: `step ${this.step}`,
      summary: `${this.status} at ${type}`,
    };
  }

  activities(): ReleaseActivities {
    const at = (step: number) => this.status === 'at work' && step === this.step;
    return {
      readRelease: async () => this.view(),
      evaluate: async (_, step) => {
        if (!at(step)) return null;
        this.looks += 1;
        if (this.looks < (this.#current.looks ?? 1)) return 'eval_1 is running';
        this.did.push('evaluated');
        this.next();
        return null;
      },
      openCanary: async (_, step) => {
        if (!at(step)) return;
        this.did.push('canary');
        this.next();
      },
      checkNumbers: async (_, step, isDue) => {
        if (!at(step)) return false;
        this.checks += 1;
        const { failsAt, lateLooks = 0, type } = this.#current;
        if (failsAt === this.checks) {
          this.did.push(`check ${this.checks} failed`);
          this.end('rolled back');
          return false;
        }
        if (!isDue || type === 'wait') return true;
        this.looks += 1;
        if (this.looks <= lateLooks) return true;
        this.did.push(`${type} passed`);
        this.next();
        return false;
      },
      endWait: async (_, step) => {
        if (!at(step)) return;
        this.did.push('waited');
        this.next();
      },
      promote: async (_, step) => {
        if (!at(step)) return;
        this.did.push('promoted');
        if (this.#current.bakeMs === undefined) this.next();
        else this.isBaking = true;
      },
      expire: async () => this.end('expired'),
      fail: async () => {
        if (this.status !== 'ended') this.end('failed');
      },
    };
  }
}

export interface ReleasePromptPath extends Path {
  release: FakeRelease;
  /** The expected actions. */
  does: string[];
}

/** A path through `releasePrompt`. @param deadlineMs default: none */
export function releasePromptPath(
  name: string,
  steps: readonly FakeStep[],
  does: string[],
  {
    deadlineMs,
    meanwhile,
    ...input
  }: {
    deadlineMs?: number;
    meanwhile?: (handle: WorkflowHandle, release: FakeRelease) => Promise<unknown>;
  } & Partial<ReleasePromptInput> = {},
): ReleasePromptPath {
  const release = new FakeRelease(steps, deadlineMs);
  return {
    name,
    workflow: 'releasePrompt',
    args: [{ releaseId: '0198f0aa-7e5c-7c3a-9d55-0c9f6f1f2a11', what: 'support/greeting @production', ...input }],
    activities: release.activities() as unknown as Path['activities'],
    release,
    does,
    ...(meanwhile && { meanwhile: async (handle) => void (await meanwhile(handle, release)) }),
  };
}

/** Waits until the workflow shows this. */
export const showing = (handle: WorkflowHandle, text: string) =>
  until(`the release shows ${text}`, async () => (await handle.query(progressQuery)).includes(text));
