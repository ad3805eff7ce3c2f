import { search } from 'jmespath';
import type { Grant } from '../domain/roles.ts';
import { DEFAULT_WORKSPACE } from '../services/workspaces/bootstrap.ts';
import { grantsOfValue, type ProviderSettings } from './provider-settings.ts';
import { SignInError } from './sign-in-error.ts';

/** A provider's statement about a person: ID token and userinfo combined. */
export type Claims = Readonly<Record<string, unknown>> & { readonly sub: string };

/** A person according to the claims. */
export interface Vouched {
  /** As configured in the settings. */
  issuer: string;
  subject: string;
  name: string;
  email: string | null;
  /** The roles from the claims; empty if the person has no access. */
  grants: Grant[];
  /** Whether the person has one of the allowed groups, if these are configured. */
  isAllowed: boolean;
}

const MAX_NAME_CHARS = 200;
const MAX_EMAIL_CHARS = 320;
/** More than any directory puts into a token. */
const MAX_VALUES = 5_000;

/** Evaluates an expression on the claims: the resulting string or strings. Empty if it does not match. */
function valuesOf(claims: Claims, expression: string): string[] {
  let found: unknown;
  try {
    found = search(claims, expression);
  } catch {
    // A function got an unsupported argument, such as null if a person has no groups.
    return [];
  }
  const list = Array.isArray(found) ? found.slice(0, MAX_VALUES) : [found];
  return list.filter((value) => typeof value === 'string');
}

/** The first claim that is a string with visible characters. */
function textOf(claims: Claims, names: readonly string[], maxChars: number): string | undefined {
  for (const name of names) {
    const value = claims[name];
    if (typeof value !== 'string') continue;
    const text = value.replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, '').trim();
    if (text !== '') return text.slice(0, maxChars);
  }
  return undefined;
}

/**
 * The permanent identity of the person.
 * @throws SignInError if the claims do not contain it
 */
export function subjectOf({ subject_claim: name }: Pick<ProviderSettings, 'subject_claim'>, claims: object): string {
  const value: unknown = new Map<string, unknown>(Object.entries(claims)).get(name);
  if (typeof value !== 'string' || value === '')
    throw new SignInError('invalid_response', `the claims lack the subject "${name}"`);
  return value;
}

/** Interprets claims by the settings of their provider. @throws SignInError if they do not identify a person */
export function vouchedBy(provider: ProviderSettings, claims: Claims): Vouched {
  const { allowed_groups: allowed } = provider;
  const isAllowed =
    allowed.length === 0 || valuesOf(claims, provider.groups_path).some((group) => allowed.includes(group));
  const given = valuesOf(claims, provider.role_path).flatMap((value) => grantsOfValue(provider, value));
  const orViewer: Grant[] = provider.role_strict ? [] : [{ workspace: DEFAULT_WORKSPACE, role: 'viewer' }];
  const granted = given.length > 0 ? given : orViewer;
  const email = claims['email_verified'] === false ? undefined : textOf(claims, ['email'], MAX_EMAIL_CHARS);
  return {
    issuer: provider.issuer,
    subject: subjectOf(provider, claims),
    name: textOf(claims, ['name', 'preferred_username', 'email', 'sub'], MAX_NAME_CHARS) ?? 'unnamed',
    email: email ?? null,
    grants: isAllowed ? granted : [],
    isAllowed,
  };
}
