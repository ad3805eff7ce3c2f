import { controlChanged } from '../../src/workflows/follow-row.ts';
import { type ReleasePromptPath, releasePromptPath, showing } from './fake-release-prompt.ts';

/** Every path through `releasePrompt`. */
export const releasePromptPaths = (): ReleasePromptPath[] => [
  releasePromptPath(
    'all-steps',
    [
      { type: 'evaluate', looks: 2 },
      { type: 'canary' },
      { type: 'analyze', waitMs: 30, checkEveryMs: 10, lateLooks: 1 },
      { type: 'wait', waitMs: 10 },
      { type: 'promote', bakeMs: 10 },
    ],
    ['evaluated', 'canary', 'analyze passed', 'waited', 'promoted', 'promote passed', 'succeeded'],
  ),
  releasePromptPath('approved', [{ type: 'approve' }, { type: 'promote' }], ['promoted', 'succeeded'], {
    meanwhile: async (handle, release) => {
      await showing(handle, 'waits for people');
      release.next();
      await handle.signal(controlChanged);
    },
  }),
  releasePromptPath(
    'check-fails',
    [{ type: 'canary' }, { type: 'wait', waitMs: 60_000, checkEveryMs: 10, failsAt: 3 }, { type: 'promote' }],
    ['canary', 'check 3 failed', 'rolled back'],
  ),
  releasePromptPath('rolled-back-while-it-waits', [{ type: 'wait', waitMs: 3_600_000 }], ['rolled back'], {
    meanwhile: async (handle, release) => {
      await showing(handle, 'waits until');
      release.end('rolled back');
      await handle.signal(controlChanged);
    },
  }),
  releasePromptPath('deadline', [{ type: 'approve' }, { type: 'promote' }], ['expired'], { deadlineMs: 20 }),
  releasePromptPath('canceled', [{ type: 'wait', waitMs: 3_600_000 }], ['failed'], {
    meanwhile: async (handle) => {
      await showing(handle, 'waits until');
      await handle.cancel();
    },
  }),
  releasePromptPath(
    'continues-as-new',
    [{ type: 'canary' }, { type: 'analyze', waitMs: 200, checkEveryMs: 10 }, { type: 'promote' }],
    ['canary', 'analyze passed', 'promoted', 'succeeded'],
    { maxHistoryEvents: 30 },
  ),
];
