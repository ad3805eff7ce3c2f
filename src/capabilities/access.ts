import { apiKeyRoutes } from '../api/api-keys/routes.ts';
import { sessionRoutes } from '../api/sessions/routes.ts';
import { everyRow, toDelete } from '../db/delete-in-batches.ts';
import { now } from '../db/sql.ts';
import { checkSessions } from '../sign-in/check-sessions.ts';
import type { Capability } from './capability.ts';

/** Each session is due every ten minutes; this is how often due ones are searched. */
const CHECK_SESSIONS_EVERY_MS = 10_000;

export const access: Capability = {
  name: 'access',
  routes: ({ db, cipher, identityProviders: providers, authenticator, requireRoom, settings, log, ...parts }) => [
    ...apiKeyRoutes({ ...parts, authenticator }),
    ...sessionRoutes({
      authenticator,
      signIn: { db, cipher, providers, log },
      keySignIn: settings.signIn,
      requireRoom,
    }),
  ],
  jobs: ({ db, cipher, identityProviders: providers, log }) => [
    {
      name: 'check sessions',
      everyMs: CHECK_SESSIONS_EVERY_MS,
      run: (stopping) => checkSessions({ db, cipher, providers, log }, stopping),
    },
  ],
  rows: [toDelete('sessions', () => everyRow), toDelete('api_keys', () => ({ ...everyRow, byId: true }))],
  expired: () => [toDelete('sessions', (eb) => ({ where: eb('expires_at', '<', now) }))],
};
