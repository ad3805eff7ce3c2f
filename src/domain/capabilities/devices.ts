import type { Declaration } from '../capability.ts';

/** Programs that request a key from a person. */
export const devices = {
  name: 'devices',
  tags: { Devices: 'Lets programs request a key from a person, as `pms login` does (modelled on RFC 8628).' },
} as const satisfies Declaration;
