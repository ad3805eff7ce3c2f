import { ApiError } from '../../domain/errors.ts';
import type { AuthenticatedKey } from './authenticate.ts';

/** How people sign in at the console. */
export interface KeySignIn {
  /** Whether every key can sign in. */
  byKey: boolean;
  identityProviders: readonly { name: string }[];
}

/**
 * If people must sign in through an identity provider, only an emergency key created by an operator can sign in.
 * @throws ApiError `invalid_state`
 */
export function requireKeySignIn({ byKey, identityProviders }: KeySignIn, { kind }: AuthenticatedKey): void {
  if (byKey || kind === 'emergency') return;
  const names = identityProviders.map(({ name }) => name).join(' or ');
  throw new ApiError(
    'invalid_state',
    `Signing in with keys is disabled: sign in with ${names}. If that is down, the operator can create an emergency key: npm run --silent admin -- emergency-key`,
  );
}
