import { randomUUID } from 'node:crypto';
import type { WorkflowHandle } from '@temporalio/client';
import type { ImprovementActivities, ImprovementView } from '../../src/activities/improve-prompt/improvement.ts';
import { controlChanged, progressQuery } from '../../src/workflows/follow-row.ts';
import type { ImprovePromptInput } from '../../src/workflows/improve-prompt.ts';
import type { Path } from './histories.ts';
import { until } from './wait-for.ts';

type View = Pick<ImprovementView, 'state'> & { childIds?: string[] };

export interface ImprovePromptPath extends Path {
  /** How often the row was moved. */
  moves: () => number;
}

/** A path through `improvePrompt`: what the row asks for, in turn; the last view stays. */
function improvePromptPath(
  name: string,
  views: readonly View[],
  meanwhile?: (handle: WorkflowHandle) => Promise<unknown>,
  input: Partial<ImprovePromptInput> = {},
): ImprovePromptPath {
  let moved = 0;
  let isFailed = false;
  const activities: ImprovementActivities = {
    moveImprovement: async () => {
      const { state, childIds = [] } = views[Math.min(moved, views.length - 1)] ?? { state: 'ended' };
      moved += 1;
      const children = childIds.map((workflowId) => ({
        // Any workflow; its step is never done.
        type: 'scheduledEvaluation',
        workflowId,
        args: [{ scheduleId: randomUUID() }],
        staticSummary: 'a run',
      }));
      const summary = `view ${moved}`;
      return { state: isFailed ? 'ended' : state, details: summary, summary, children } as unknown as ImprovementView;
    },
    failImprovement: async () => {
      isFailed = true;
    },
  };
  return {
    name,
    workflow: 'improvePrompt',
    args: [{ improvementId: '0198f0aa-7e5c-7c3a-9d55-0c9f6f1f2a11', what: 'improves support/greeting v1', ...input }],
    activities: activities as unknown as Path['activities'],
    moves: () => moved,
    ...(meanwhile && { meanwhile: async (handle) => void (await meanwhile(handle)) }),
  };
}

const showing = (handle: WorkflowHandle, text: string) =>
  until(`the improvement shows ${text}`, async () => (await handle.query(progressQuery)).includes(text));

/** Every path through `improvePrompt`. */
export function improvePromptPaths(): ImprovePromptPath[] {
  const [ending, known] = [randomUUID(), randomUUID()];
  return [
    improvePromptPath('child-ends', [{ state: 'at work', childIds: [ending] }, { state: 'ended' }], async (handle) => {
      await showing(handle, 'view 1');
      await until('its child to be there', () =>
        handle.client
          .getHandle(ending)
          .terminate()
          .then(
            () => true,
            () => false,
          ),
      );
    }),
    improvePromptPath(
      'continues-as-new',
      [
        { state: 'at work', childIds: [known] },
        { state: 'at work', childIds: [known] },
        { state: 'at work', childIds: [known] },
        { state: 'ended' },
      ],
      undefined,
      { maxHistoryEvents: 12 },
    ),
    improvePromptPath('paused', [{ state: 'paused' }, { state: 'ended' }], async (handle) => {
      await showing(handle, 'view 1');
      await handle.signal(controlChanged);
    }),
    improvePromptPath('canceled', [{ state: 'at work' }], async (handle) => {
      await showing(handle, 'view 1');
      await handle.cancel();
    }),
  ];
}
