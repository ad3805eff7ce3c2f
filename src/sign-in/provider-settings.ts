import { search } from 'jmespath';
import { z } from 'zod';
import { type Grant, parseGrant } from '../domain/roles.ts';

const Name = z.string().regex(/^[a-z0-9][a-z0-9-]{0,49}$/, 'must be 1 to 50 lower case letters, digits or "-"');
const Issuer = z.url({ protocol: /^https?$/, error: 'must be the http or https address of an issuer' });
const List = z
  .union([z.array(z.string()), z.string().transform((text) => text.split(','))])
  .transform((items) => items.map((item) => item.trim()).filter((item) => item !== ''));
const Flag = z.union([z.boolean(), z.enum(['true', 'false']).transform((text) => text === 'true')], {
  error: 'must be true or false',
});

/** `{"engineers": "default:editor", "leads": ["default:admin", "research:viewer"]}`: what each value grants. */
const RoleMapping = z
  .preprocess(
    (value, context) => {
      if (typeof value !== 'string') return value;
      try {
        return JSON.parse(value);
      } catch {
        context.addIssue({ code: 'custom', message: 'must be a JSON object' });
        return z.NEVER;
      }
    },
    z.record(
      z.string(),
      z.union([z.string(), z.array(z.string())]),
      'must be a JSON object of value to workspace:role',
    ),
  )
  .transform((mapping, context) => {
    const entries = Object.entries(mapping).map(([value, given]): [string, Grant[]] => {
      const grants = [given].flat().map((text) => {
        const grant = parseGrant(text);
        if (grant === undefined)
          context.addIssue({ code: 'custom', message: `"${text}" must be workspace:role, such as default:editor` });
        return grant;
      });
      return [value, grants.filter((grant) => grant !== undefined)];
    });
    return new Map(entries);
  });

/** Compiled immediately, so that an invalid one is reported at the start and not at the first sign-in. */
const JmesPath = z
  .string()
  .min(1)
  .superRefine((text, context) => {
    try {
      search({}, text);
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      // There are no claims here, which a function may require.
      if (reason.startsWith('TypeError')) return;
      context.addIssue({ code: 'custom', message: `must be a JMESPath expression (https://jmespath.org): ${reason}` });
    }
  });

/** The settings of an identity provider. */
export const ProviderSettings = z.strictObject({
  /** Used in addresses. */
  id: Name.default('sso'),
  /** Shown to people: "Sign in with …". */
  name: z.string().min(1).max(50).default('single sign-on'),
  issuer: Issuer,
  client_id: z.string().min(1),
  /** Unset for a public client. */
  client_secret: z.string().min(1).optional(),
  scopes: z.string().default('openid profile email'),
  /** The claim by which the provider, and its provisioning, permanently identify a person: `oid` at Microsoft Entra. */
  subject_claim: z
    .string()
    .regex(/^[\w.:/-]{1,100}$/, 'must be the name of a claim')
    .default('sub'),
  /** JMESPath on the claims: returns a string or a list of strings for `role_mapping`. */
  role_path: JmesPath.default('groups'),
  /** Without a mapping, the values of `role_path` themselves are `workspace:role`. */
  role_mapping: RoleMapping.optional(),
  /** Whether people without a mapped role are rejected; otherwise they are viewers of the workspace `default`. */
  role_strict: Flag.default(true),
  /** Groups of which a person needs at least one; empty for no restriction. */
  allowed_groups: List.default([]),
  /** JMESPath on the claims: the groups for `allowed_groups`. */
  groups_path: JmesPath.default('groups'),
  /** Path of a file with the certificates (PEM) of the private authority that signed the provider's certificate. */
  ca: z.string().optional(),
});
export type ProviderSettings = z.output<typeof ProviderSettings>;

/** `OIDC_ISSUER` and its siblings: the settings of one provider. */
export const SINGLE_PROVIDER = {
  OIDC_NAME: 'name',
  OIDC_ISSUER: 'issuer',
  OIDC_CLIENT_ID: 'client_id',
  OIDC_CLIENT_SECRET: 'client_secret',
  OIDC_SCOPES: 'scopes',
  OIDC_SUBJECT_CLAIM: 'subject_claim',
  OIDC_ROLE_PATH: 'role_path',
  OIDC_ROLE_MAPPING: 'role_mapping',
  OIDC_ROLE_STRICT: 'role_strict',
  OIDC_ALLOWED_GROUPS: 'allowed_groups',
  OIDC_GROUPS_PATH: 'groups_path',
  OIDC_CA: 'ca',
} as const satisfies Record<string, keyof ProviderSettings>;

/**
 * The identity providers from the environment: that of `OIDC_ISSUER`, and those of `OIDC_PROVIDERS` (a JSON list of objects with
 * these fields).
 * @returns them, or the problems by setting
 */
export function readProviders(env: Record<string, string | undefined>): {
  providers: ProviderSettings[];
  problems: string[];
} {
  const problems: string[] = [];
  const providers: ProviderSettings[] = [];
  const add = (given: unknown, nameOf: (field: string) => string) => {
    const parsed = ProviderSettings.safeParse(given);
    if (parsed.success) providers.push(parsed.data);
    else
      problems.push(...parsed.error.issues.map(({ path, message }) => `${nameOf(String(path[0] ?? ''))}: ${message}`));
  };
  const single = Object.entries(SINGLE_PROVIDER).filter(([name]) => env[name] !== undefined);
  const settingOf = new Map<string, string>(Object.entries(SINGLE_PROVIDER).map(([name, field]) => [field, name]));
  if (single.length > 0)
    add(
      Object.fromEntries(single.map(([name, field]) => [field, env[name]])),
      (field) => settingOf.get(field) ?? field,
    );
  const several = env['OIDC_PROVIDERS'];
  if (several !== undefined) {
    const list = parseList(several);
    if (list === undefined) problems.push('OIDC_PROVIDERS: must be a JSON list of objects');
    for (const [index, given] of (list ?? []).entries()) add(given, (field) => `OIDC_PROVIDERS.${index}.${field}`);
  }
  for (const field of ['id', 'issuer'] as const)
    if (new Set(providers.map((provider) => provider[field])).size < providers.length)
      problems.push(`OIDC_PROVIDERS: each provider needs a unique ${field}`);
  return { providers, problems };
}

function parseList(text: string): unknown[] | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return Array.isArray(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** The roles that a group, or another value of `role_path`, grants. */
export function grantsOfValue(
  { role_mapping: mapping }: Pick<ProviderSettings, 'role_mapping'>,
  value: string,
): Grant[] {
  if (mapping !== undefined) return mapping.get(value) ?? [];
  const grant = parseGrant(value);
  return grant === undefined ? [] : [grant];
}
