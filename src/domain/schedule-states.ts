import { defineStates } from './state-machine.ts';

/** `active`: evaluations start when they are due. `paused`: only when a caller requests one. */
export const scheduleStates = defineStates(
  { active: ['paused'], paused: ['active'] },
  { column: 'paused', literals: { active: 'false', paused: 'true' } },
);
