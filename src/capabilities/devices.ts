import { deviceRoutes } from '../api/devices/routes.ts';
import { toDelete } from '../db/delete-in-batches.ts';
import { now } from '../db/sql.ts';
import type { Capability } from './capability.ts';

export const devices: Capability = {
  name: 'devices',
  routes: ({ db: { system }, quotas, settings }) =>
    deviceRoutes({ system, quotas, publicUrl: settings.signIn.publicUrl }),
  expired: () => [toDelete('device_authorizations', (eb) => ({ where: eb('expires_at', '<', now) }))],
};
