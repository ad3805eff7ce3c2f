import { ApiError } from '../domain/errors.ts';

const DEFAULT_WAIT_SECONDS = 60;
export const MAX_WAIT_SECONDS = 300;

/**
 * How long a caller wants to wait, from `Prefer` (RFC 7240): `wait=N` in seconds, or `respond-async` for not at all. Other
 * preferences are ignored, as the RFC requires.
 * @param defaultSeconds without a preference. Default: 60
 * @throws ApiError `invalid_request` if `wait` is not a whole number from 0 to 300
 */
export function waitMsOf(prefer: string | undefined, defaultSeconds = DEFAULT_WAIT_SECONDS): number {
  let seconds = defaultSeconds;
  for (const preference of (prefer ?? '').split(',')) {
    const [name = '', value = ''] = preference
      .split(';', 1)
      .join('')
      .split('=', 2)
      .map((part) => part.trim());
    if (name.toLowerCase() === 'respond-async') return 0;
    if (name.toLowerCase() !== 'wait') continue;
    const wanted = /^"?(\d{1,9})"?$/.exec(value)?.[1];
    if (wanted === undefined || Number(wanted) > MAX_WAIT_SECONDS)
      throw new ApiError('invalid_request', `Prefer: wait must be a whole number from 0 to ${MAX_WAIT_SECONDS}.`);
    seconds = Number(wanted);
  }
  return seconds * 1000;
}
