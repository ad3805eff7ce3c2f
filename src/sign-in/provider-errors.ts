import { AuthorizationResponseError, ResponseBodyError, WWWAuthenticateChallengeError } from 'openid-client';
import { UnreachableError } from './provider-fetch.ts';
import { SignInError, type SignInProblem } from './sign-in-error.ts';

/** `error` in a response of the authorization endpoint: OAuth 2.0, 4.1.2.1, and OpenID Connect Core, 3.1.2.6. */
const OF_AUTHORIZATION: Record<string, SignInProblem> = {
  login_required: 'not_signed_in',
  interaction_required: 'not_signed_in',
  consent_required: 'not_signed_in',
  account_selection_required: 'not_signed_in',
  server_error: 'provider_down',
  temporarily_unavailable: 'provider_down',
};
const MAX_CAUSES = 5;

/** An error with its causes. */
function causesOf(error: unknown): unknown[] {
  const causes: unknown[] = [];
  for (let each = error; each instanceof Error && causes.length < MAX_CAUSES; each = each.cause) causes.push(each);
  return causes;
}

function problemOf(error: unknown): SignInProblem {
  if (error instanceof AuthorizationResponseError) return OF_AUTHORIZATION[error.error] ?? 'provider_refused';
  // For a code: it was used, has expired, or belongs to another client. For a refresh token: the person is signed out, or gone.
  if (error instanceof ResponseBodyError && error.error === 'invalid_grant') return 'grant_ended';
  const isToken = error instanceof WWWAuthenticateChallengeError;
  if (isToken && error.cause.some(({ parameters }) => parameters.error === 'invalid_token')) return 'grant_ended';
  if (causesOf(error).some((cause) => cause instanceof UnreachableError)) return 'provider_down';
  return 'invalid_response';
}

/** Converts a library error to a sign-in failure. The message is for the log: it may contain text of the provider. */
export function toSignInError(error: unknown): SignInError {
  if (error instanceof SignInError) return error;
  const messages = causesOf(error).map((cause) => (cause instanceof Error ? cause.message : ''));
  return new SignInError(problemOf(error), messages.join(': ').slice(0, 500), { cause: error });
}
