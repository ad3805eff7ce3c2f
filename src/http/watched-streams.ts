import type { Readable } from 'node:stream';
import type { Logger } from 'pino';
import { isDatabaseUnavailable } from '../db/errors.ts';
import type { Scope } from '../domain/scopes.ts';
import type { Authenticator, Credential } from '../services/access/authenticate.ts';

/** Responses that go on for long, each with what its caller has shown. */
export interface WatchedStreams {
  /**
   * Cuts the stream off within 5 s of the end of the key or session, or of the last of the scopes of which it needs one, whichever process has
   * ended it, and however.
   */
  watch(credential: Credential, scopes: readonly Scope[], stream: Readable): void;
}

/** With the time that a look takes, well within 5 s. */
const POLL_INTERVAL_MS = 2_000;

/** One look at the database serves all streams of the process: notifications of what has ended may be lost. */
export function createWatchedStreams(
  { authenticator, log }: { authenticator: Pick<Authenticator, 'findEnded'>; log: Logger },
  { pollIntervalMs = POLL_INTERVAL_MS }: { pollIntervalMs?: number } = {},
): WatchedStreams {
  const open = new Map<Readable, { credential: Credential; scopes: readonly Scope[] }>();
  let timer: NodeJS.Timeout | undefined;
  let isPolling = false;

  async function look(): Promise<void> {
    if (isPolling) return;
    isPolling = true;
    try {
      const ended = await authenticator.findEnded(
        new Map([...open.values()].map(({ credential, scopes }) => [credential, scopes])),
      );
      for (const [stream, { credential }] of open) {
        const error = ended.get(credential);
        if (error !== undefined) stream.destroy(error);
      }
    } catch (error) {
      if (isDatabaseUnavailable(error)) log.warn({ err: error }, 'cannot check whether keys have ended; trying again');
      else log.error({ err: error }, 'cannot check whether keys have ended; trying again');
    } finally {
      isPolling = false;
    }
  }

  return {
    watch(credential, scopes, stream) {
      if (stream.destroyed) return;
      open.set(stream, { credential, scopes });
      timer ??= setInterval(() => void look(), pollIntervalMs).unref();
      stream.once('close', () => {
        open.delete(stream);
        if (open.size > 0) return;
        clearInterval(timer);
        timer = undefined;
      });
    },
  };
}
