import { hostname } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import {
  type Api,
  ConnectionError,
  NotFoundError,
  type Pms,
  PmsError,
  RateLimitedError,
  ServiceError,
  UnauthorizedError,
} from 'pms-client';
import { openInBrowser } from './browser.ts';
import { type Context, clientOf, printLine, safeText } from './context.ts';
import { CliError, EXIT } from './exit.ts';

/** Added to the interval whenever the service reports too frequent polling. */
const SLOWER_SECONDS = 5;
const MAX_NAME = 100;

const nameOfThis = () => `pms on ${hostname().replaceAll(/[\p{Cc}\p{Cf}]/gu, '')}`.slice(0, MAX_NAME);

/** Starts the login. @returns undefined if the service does not support it */
async function begin(pms: Pms): Promise<Api.CreatedDeviceAuthorization | undefined> {
  try {
    return await pms.call('createDeviceAuthorization', { body: { client: nameOfThis() } });
  } catch (error) {
    // An older service requires a key before it reports an unknown path.
    const isUnknown = error instanceof NotFoundError || error instanceof UnauthorizedError;
    if (isUnknown && error.requestId !== undefined) return undefined;
    throw error;
  }
}

/** Transient errors: the next poll may succeed. */
const passes = (error: unknown) =>
  error instanceof ConnectionError || error instanceof ServiceError || error instanceof RateLimitedError;

/**
 * Lets a person approve this program at the console, and fetches the key. Ctrl-C aborts it; only a code that expires is left behind.
 * @param url of the service
 * @returns undefined if the service does not support it
 * @throws CliError if it is denied, or not approved in time
 */
export async function loginByDevice(
  { stderr, env }: Context,
  url: string,
  { browser }: { browser: boolean },
): Promise<Api.DeviceKey | undefined> {
  const pms = clientOf({ baseUrl: url, apiKey: null, maxRetries: 0 });
  const given = await begin(pms);
  if (given === undefined) return undefined;
  const until = Date.now() + given.expires_in * 1000;
  printLine(stderr, `Open this page and approve the login if it shows the code ${safeText(given.user_code)}:`);
  printLine(stderr, `  ${safeText(given.verification_uri_complete)}`);
  printLine(stderr, `Waiting up to ${Math.round(given.expires_in / 60)} minutes. Press Ctrl-C to cancel.`);
  if (browser) openInBrowser(given.verification_uri_complete, env);
  let wasLost = false;
  for (let seconds = given.interval; Date.now() < until; ) {
    await delay(seconds * 1000);
    try {
      return await pms.call('createDeviceKey', { body: { device_code: given.device_code } });
    } catch (error) {
      if (!(error instanceof PmsError)) throw error;
      if (error.code === 'authorization_pending') continue;
      if (error.code === 'denied')
        throw new CliError(EXIT.usage, 'The login was denied in the console. No key was created.');
      if (error.code === 'expired') break;
      if (error.code !== 'slow_down' && !passes(error)) throw error;
      wasLost ||= error instanceof ConnectionError;
      seconds += SLOWER_SECONDS;
    }
  }
  const lost = wasLost
    ? ` If it was approved, the response with the key was lost: revoke the key “${nameOfThis()}” in the console.`
    : '';
  throw new CliError(EXIT.usage, `The code expired, or the session that approved it ended. Log in again.${lost}`);
}
