import type { Readable } from 'node:stream';
import type { Logger } from 'pino';
import { isDatabaseUnavailable } from '../db/errors.ts';
import type { Scope } from '../domain/scopes.ts';
import type { Authenticator, Credential } from '../services/access/authenticate.ts';

/** Long-running responses, each with its caller's credential. */
export interface WatchedStreams {
  /**
   * Cuts the stream off within 5 s after the key or session, or the last of the scopes of which it needs one, ends, through whichever
   * process and however.
   */
  watch(credential: Credential, scopes: readonly Scope[], stream: Readable): void;
}

/** Plus the duration of a check, well within 5 s. */
const POLL_INTERVAL_MS = 2_000;

/** One database check serves all streams of the process, because notifications may be lost. */
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
