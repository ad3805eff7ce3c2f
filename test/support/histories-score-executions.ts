import { placeFree } from '../../src/workflows/score-executions.ts';
import { type ScoreExecutionsPath, scoreExecutionsPath } from './fake-score-executions.ts';
import { until } from './wait-for.ts';

/** Every path through `scoreExecutions`. */
export const scoreExecutionsPaths = (): ScoreExecutionsPath[] => [
  scoreExecutionsPath('nothing-more', [{ more: false }]),
  scoreExecutionsPath('batches', [{ more: true }, { more: true }, { more: false }], { kind: 'backfill' }),
  scoreExecutionsPath('step-fails', ['fails', { more: true }, { more: false }]),
  scoreExecutionsPath('held-back', [{ heldBackMs: 10 }, { more: false }]),
  scoreExecutionsPath('invited', [{ heldBackMs: 3_600_000 }, { more: false }], {
    async meanwhile(handle, given) {
      await until('it is held back', async () => {
        const { raw } = await handle.describe();
        return given.length === 1 && (raw.pendingActivities ?? []).length === 0;
      });
      await handle.signal(placeFree, '');
    },
  }),
  scoreExecutionsPath('continues-as-new', [{ more: true }, { more: true }, { more: true }, { more: false }], {
    maxHistoryEvents: 10,
  }),
];
