/**
 * Why a sign-in, or a check of a session, has failed. The sign-in page has a plain sentence for each (`console/src/pages/sign-in`); the
 * provider's own words go only to the log.
 */
export type SignInProblem =
  /** The provider can't be reached, is too slow, or sends an unusable answer. */
  | 'provider_down'
  /** The provider refused: the person canceled, or has no access to this application. */
  | 'provider_refused'
  /** The provider would have to interact with the person, but must not. */
  | 'not_signed_in'
  /** The answer is invalid: it may be forged, or the provider is configured differently. */
  | 'invalid_response'
  /** The login was started too long ago, elsewhere, or is already finished. */
  | 'login_expired'
  /** The provider has revoked its grant: the person is no longer signed in there, or is gone. */
  | 'grant_ended'
  /** The person is known, but none of their groups grants a role. */
  | 'no_role'
  /** Provisioning has deactivated the person. */
  | 'inactive'
  | 'too_many_tries';

export class SignInError extends Error {
  readonly problem: SignInProblem;

  constructor(problem: SignInProblem, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'SignInError';
    this.problem = problem;
  }
}
