import type { Logger } from 'pino';
import type { AuthenticatedKey } from '../services/access/authenticate.ts';

/** What a request carries through the middleware. */
export interface AppState {
  requestId: string;
  key: AuthenticatedKey;
  log: Logger;
}
