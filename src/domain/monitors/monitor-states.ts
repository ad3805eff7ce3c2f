import { defineStates } from '../state-machine.ts';

/**
 * `no_data`: too few runs to say anything, as of a new monitor. `alerting`: a check does not hold, and did not for as long as it has to.
 * An alert ends when the check was seen to hold again, or the monitor is changed: too few runs don't end it.
 */
export const monitorStates = defineStates(
  { no_data: ['ok', 'alerting'], ok: ['alerting', 'no_data'], alerting: ['ok', 'no_data'] },
  { column: 'state', literals: { no_data: "'no_data'", ok: "'ok'", alerting: "'alerting'" } },
);

export type MonitorState = (typeof monitorStates.states)[number];
