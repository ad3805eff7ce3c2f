import type { Logger } from 'pino';
import type { AuthenticatedKey, Credential } from '../services/access/authenticate.ts';

/** The state of a request in the middleware. */
export interface AppState {
  requestId: string;
  key: AuthenticatedKey;
  /** The credential that identified `key`. */
  credential: Credential;
  log: Logger;
}
