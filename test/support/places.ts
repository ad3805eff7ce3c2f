import { createPlaces, type Places } from '../../src/temporal/places.ts';

/** Places of a worker whose workflows can't be invited. */
export function testPlaces({ workspaceConcurrency = 100, hostConcurrency = 20 } = {}): Places {
  return createPlaces({ workspaceConcurrency, hostConcurrency, invite: async () => true });
}
