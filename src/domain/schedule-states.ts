import { defineStates } from './state-machine.ts';

/** `active`: evaluations are started when it is due. `paused`: only when a caller asks for one. */
export const scheduleStates = defineStates(
  { active: ['paused'], paused: ['active'] },
  { column: 'paused', literals: { active: 'false', paused: 'true' } },
);
