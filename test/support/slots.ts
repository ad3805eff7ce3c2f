import { createSlots, type Slots } from '../../src/temporal/slots.ts';

/** Slots of a worker whose workflows cannot be signaled. */
export function testSlots({ workspaceConcurrency = 100, hostConcurrency = 20 } = {}): Slots {
  return createSlots({ workspaceConcurrency, hostConcurrency, offer: async () => true });
}
