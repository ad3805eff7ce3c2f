import { spanMs } from '../releases/release.ts';
import {
  CHECK_EVERY_MS,
  type CheckProgress,
  type Measured,
  type MonitorCheck,
  type MonitorProgress,
} from './monitor.ts';
import type { MonitorState } from './monitor-states.ts';

/** The number of consecutive checks without any result before an `ok` monitor changes to `no_data`. */
export const SILENT_CHECKS = 5;

/** The number of consecutive measurements that must agree before a check changes: one per minute, at least one. */
export const looksOf = ({ for: span }: Pick<MonitorCheck, 'for'>) =>
  Math.max(1, Math.round(spanMs(span) / CHECK_EVERY_MS));

/** `between`: no longer bad, but not yet good enough to recover. */
type Finding = 'bad' | 'between' | 'good' | 'nothing';

function find(
  { above, below, recover_at: recovery, min_executions: least }: MonitorCheck,
  { value, count }: Measured,
): Finding {
  if (value === null || count < least) return 'nothing';
  if (above !== undefined) return value > above ? 'bad' : value <= recovery ? 'good' : 'between';
  return value < (below ?? Number.NEGATIVE_INFINITY) ? 'bad' : value >= recovery ? 'good' : 'between';
}

function step(
  check: MonitorCheck,
  before: CheckProgress | undefined,
  finding: Finding,
  measured: Measured,
): CheckProgress {
  const { alerting, streak } = before ?? { alerting: false, streak: 0 };
  const speaksForChange = finding === (alerting ? 'good' : 'bad');
  const looks = speaksForChange ? streak + 1 : 0;
  const changes = looks >= looksOf(check);
  return { ...measured, alerting: alerting !== changes, streak: changes ? 0 : looks };
}

/**
 * The state of a monitor after a measurement. A check starts to alert after bad measurements, and stops after good ones, as many in a row as
 * its `for` requires; a measurement in between, or without enough data, restarts the count. The monitor alerts while any of its checks does.
 * @param measured for each check, in their order
 */
export function look(
  checks: readonly MonitorCheck[],
  before: MonitorProgress,
  measured: readonly Measured[],
): MonitorProgress {
  const seen = checks.map((check, index) => {
    const now = measured[index] ?? { value: null, count: 0 };
    const finding = find(check, now);
    return { finding, progress: step(check, before.checks[index], finding, now) };
  });
  const silent = seen.every(({ finding }) => finding === 'nothing') ? before.silent + 1 : 0;
  return {
    state: stateOf(
      before.state,
      seen.some(({ progress }) => progress.alerting),
      silent,
    ),
    checks: seen.map(({ progress }) => progress),
    silent,
  };
}

function stateOf(before: MonitorState, alerts: boolean, silent: number): MonitorState {
  if (alerts) return 'alerting';
  if (silent === 0) return 'ok';
  return before === 'no_data' || silent >= SILENT_CHECKS ? 'no_data' : 'ok';
}
