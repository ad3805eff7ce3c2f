import { describe, expect, test } from '@jest/globals';
import { look, SILENT_CHECKS } from '../../../src/domain/monitors/look.ts';
import {
  defaultRecovery,
  type Measured,
  type MonitorCheck,
  type MonitorProgress,
  NEW_PROGRESS,
} from '../../../src/domain/monitors/monitor.ts';

const ERRORS: MonitorCheck = { metric: 'error_rate', above: 0.1, recover_at: 0.05, min_executions: 10, for: '2m' };
const SCORE: MonitorCheck = { metric: 'score:helpful', below: 3, recover_at: 3.5, min_executions: 1, for: '1m' };

/** The states after checks of the given values; null for no value. */
function states(check: MonitorCheck, values: (number | null)[], count = 100): string[] {
  let progress: MonitorProgress = NEW_PROGRESS;
  return values.map((value) => {
    progress = look([check], progress, [{ value, count: value === null ? 0 : count }]);
    return progress.state;
  });
}

describe('a check', () => {
  test('alerts if it was bad in as many polls as "for" has minutes, and recovers alike', () => {
    expect(states(ERRORS, [0, 0.2, 0.2, 0.2, 0.04, 0.04])).toEqual([
      'ok',
      'ok',
      'alerting',
      'alerting',
      'alerting',
      'ok',
    ]);
    expect(states({ ...ERRORS, for: '1m' }, [0.2, 0.04])).toEqual(['alerting', 'ok']);
    expect(states({ ...ERRORS, for: '30s' }, [0.2])).toEqual(['alerting']);
    expect(states({ ...ERRORS, for: '5m' }, [1, 1, 1, 1, 1])).toEqual(['ok', 'ok', 'ok', 'ok', 'alerting']);
  });

  test('does not alert if each problem is gone at the next poll', () => {
    const flapping = Array.from({ length: 100 }, (_, index) => (index % 2 === 0 ? 0.9 : 0.02));
    expect(new Set(states(ERRORS, flapping))).toEqual(new Set(['ok']));
  });

  test('that alerts stays so between its limit and its recovery level', () => {
    const between = Array.from({ length: 50 }, (_, index) => (index % 2 === 0 ? 0.11 : 0.06));
    expect(new Set(states(ERRORS, [0.2, ...between]).slice(1))).toEqual(new Set(['alerting']));
    expect(states(ERRORS, [0.2, 0.2, 0.04, 0.06, 0.04, 0.04]).slice(-3)).toEqual(['alerting', 'alerting', 'ok']);
  });

  test('holds at its limit', () => {
    expect(states({ ...ERRORS, for: '1m' }, [0.1])).toEqual(['ok']);
    expect(states(SCORE, [3, 2.99, 3.49, 3.5])).toEqual(['ok', 'alerting', 'alerting', 'ok']);
  });

  test('is undecided with too few values: that starts no alert, ends none, and restarts the count', () => {
    expect(states(ERRORS, [1, 1, 1], 9)).toEqual(['no_data', 'no_data', 'no_data']);
    expect(states(ERRORS, [1, null, 1, null, 1])).toEqual(['ok', 'ok', 'ok', 'ok', 'ok']);
    expect(new Set(states(ERRORS, [1, 1, ...Array.from({ length: 30 }, () => null)]).slice(1))).toEqual(
      new Set(['alerting']),
    );
    expect(states(ERRORS, [1, 1, 0, null, 0, 0]).slice(-3)).toEqual(['alerting', 'alerting', 'ok']);
  });
});

describe('a monitor', () => {
  const measured = (...values: (number | null)[]): Measured[] => values.map((value) => ({ value, count: 100 }));

  test('alerts while any of its checks does, and recovers with the last of them', () => {
    const checks = [{ ...ERRORS, for: '1m' }, SCORE];
    let progress = look(checks, NEW_PROGRESS, measured(0.2, 5));
    expect(progress).toMatchObject({ state: 'alerting', checks: [{ alerting: true }, { alerting: false }] });
    progress = look(checks, progress, measured(0, 1));
    expect(progress).toMatchObject({ state: 'alerting', checks: [{ alerting: false }, { alerting: true }] });
    progress = look(checks, progress, measured(0, null));
    expect(progress.state).toBe('alerting');
    expect(look(checks, progress, measured(0, 4)).state).toBe('ok');
  });

  test('is ok if one check is decided, and has no data only after a while', () => {
    const checks = [ERRORS, SCORE];
    const ok = look(checks, NEW_PROGRESS, measured(null, 4));
    expect(ok.state).toBe('ok');
    let progress = ok;
    const seen: string[] = [];
    for (let index = 0; index < SILENT_CHECKS; index += 1) {
      progress = look(checks, progress, measured(null, null));
      seen.push(progress.state);
    }
    expect(seen).toEqual([...Array.from({ length: SILENT_CHECKS - 1 }, () => 'ok'), 'no_data']);
    expect(look(checks, progress, measured(0, null)).state).toBe('ok');
  });
});

test.each([
  [{ metric: 'error_rate', above: 0.1 }, 0.09],
  [{ metric: 'error_rate', above: 0.98 }, 0.978],
  [{ metric: 'latency_p95', above: 2000 }, 1800],
  [{ metric: 'cost_total', above: 5 }, 4.5],
  [{ metric: 'cost_mean', above: 0 }, 0],
  [{ metric: 'latency_p95', below: 100 }, 110],
  [{ metric: 'score:helpful', below: 0.95 }, 0.955],
  [{ metric: 'score:helpful', below: 1 }, 1],
  [{ metric: 'score:stars', below: 4.8 }, 4.8],
  [{ metric: 'score:mood', above: -2 }, -2],
] as const)('%j recovers at %d, which it can reach', (check, recovery) => {
  expect(defaultRecovery(check)).toBe(recovery);
});
