import type { Logger } from 'pino';
import type { AuthenticatedKey, Credential } from '../services/access/authenticate.ts';

/** What a request carries through the middleware. */
export interface AppState {
  requestId: string;
  key: AuthenticatedKey;
  /** What the caller has shown to be taken for `key`. */
  credential: Credential;
  log: Logger;
}
