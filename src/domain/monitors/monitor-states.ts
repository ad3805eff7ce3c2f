import { defineStates } from '../state-machine.ts';

/**
 * `no_data`: too few runs for a result, as for a new monitor. `alerting`: a check has failed for as long as its `for` requires.
 * An alert ends when the check has recovered, or the monitor is changed, but not because there are too few runs.
 */
export const monitorStates = defineStates(
  { no_data: ['ok', 'alerting'], ok: ['alerting', 'no_data'], alerting: ['ok', 'no_data'] },
  { column: 'state', literals: { no_data: "'no_data'", ok: "'ok'", alerting: "'alerting'" } },
);

export type MonitorState = (typeof monitorStates.states)[number];
