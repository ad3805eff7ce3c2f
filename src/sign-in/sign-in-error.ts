/**
 * Why a sign-in, or a look whether it still holds, has failed. The sign-in page has a plain sentence for each (`console/src/pages/sign-in`);
 * what the provider said goes to the log alone.
 */
export type SignInProblem =
  /** The provider can't be reached, is too slow, or answers with nonsense. */
  | 'provider_down'
  /** The provider has refused: the person canceled, or may not use this application. */
  | 'provider_refused'
  /** The provider would have to ask the person, and was asked not to. */
  | 'not_signed_in'
  /** The answer is not what it must be: it may be forged, or the provider is set up otherwise. */
  | 'invalid_response'
  /** The login was begun too long ago, elsewhere, or was finished already. */
  | 'login_expired'
  /** The provider has ended what it gave: the person is no longer signed in there, or is gone. */
  | 'grant_ended'
  /** The person is known, and no group of theirs gives a role. */
  | 'no_role'
  /** The provisioning has deactivated the person. */
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
