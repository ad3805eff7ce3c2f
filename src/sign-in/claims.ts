import { search } from 'jmespath';
import type { Grant } from '../domain/roles.ts';
import { DEFAULT_WORKSPACE } from '../services/workspaces/bootstrap.ts';
import { grantsOfValue, type ProviderSettings } from './provider-settings.ts';
import { SignInError } from './sign-in-error.ts';

/** What a provider says of a person: its ID token and its userinfo together. */
export type Claims = Readonly<Record<string, unknown>> & { readonly sub: string };

/** A person, as the claims have them. */
export interface Vouched {
  /** As in the settings. */
  issuer: string;
  subject: string;
  name: string;
  email: string | null;
  /** What the claims give: none where the person may not come in. */
  grants: Grant[];
  /** Whether the person has one of the groups that are allowed, where there are such. */
  isAllowed: boolean;
}

const MAX_NAME_CHARS = 200;
const MAX_EMAIL_CHARS = 320;
/** More than any directory puts into a token. */
const MAX_VALUES = 5_000;

/** What an expression finds in the claims: a text, or the texts of a list. Nothing where it does not fit them. */
function valuesOf(claims: Claims, expression: string): string[] {
  let found: unknown;
  try {
    found = search(claims, expression);
  } catch {
    // A function was given what it does not take, such as null where a person has no groups.
    return [];
  }
  const list = Array.isArray(found) ? found.slice(0, MAX_VALUES) : [found];
  return list.filter((value) => typeof value === 'string');
}

/** The first of the claims that is a text with something to see. */
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
 * Who it is, for good.
 * @throws SignInError where the claims do not say it
 */
export function subjectOf({ subject_claim: name }: Pick<ProviderSettings, 'subject_claim'>, claims: object): string {
  const value: unknown = new Map<string, unknown>(Object.entries(claims)).get(name);
  if (typeof value !== 'string' || value === '')
    throw new SignInError('invalid_response', `the claims do not have the subject, "${name}"`);
  return value;
}

/** What claims mean by the settings of their provider. @throws SignInError where they do not say who it is */
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
