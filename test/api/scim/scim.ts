import type { Answer, TestService } from '../../support/service.ts';

export const SCIM_TOKEN = 'scim-token-of-the-tests-0123456789abcdef';
export const ISSUER = 'https://id.example.com';

/** Settings of a service whose identity provider provisions users. */
export const PROVISIONED = {
  OIDC_ISSUER: ISSUER,
  OIDC_CLIENT_ID: 'pms',
  OIDC_NAME: 'Acme',
  OIDC_ROLE_MAPPING: JSON.stringify({
    engineers: 'default:editor',
    leads: ['default:admin', 'research:viewer'],
    readers: 'default:viewer',
  }),
  PUBLIC_URL: 'https://pms.example.com',
  TRUST_PROXY: 'true',
  SCIM_TOKEN,
};

export type Scim = (
  method: string,
  path: string,
  options?: { body?: unknown; raw?: string; token?: string; type?: string },
) => Promise<Answer>;

/** Calls `/scim/v2` + path as an identity provider does. */
export const createScim =
  ({ origin }: Pick<TestService, 'origin'>): Scim =>
  async (method, path, { body, raw, token = SCIM_TOKEN, type = 'application/scim+json; charset=utf-8' } = {}) => {
    const sent = raw ?? (body === undefined ? undefined : JSON.stringify(body));
    const response = await fetch(`${origin}/scim/v2${path}`, {
      method,
      headers: {
        ...(token !== '' && { Authorization: `Bearer ${token}` }),
        Accept: 'application/scim+json',
        ...(sent !== undefined && { 'Content-Type': type }),
      },
      ...(sent !== undefined && { body: sent }),
    });
    const text = await response.text();
    return { status: response.status, headers: response.headers, body: text === '' ? '' : JSON.parse(text) };
  };

const PATCH = 'urn:ietf:params:scim:api:messages:2.0:PatchOp';
export const patchOf = (...operations: object[]) => ({ schemas: [PATCH], Operations: operations });

/** A person as Okta sends one. */
export const oktaUser = (name: string, more: object = {}) => ({
  schemas: ['urn:ietf:params:scim:schemas:core:2.0:User'],
  userName: `${name}@example.com`,
  name: { givenName: name, familyName: 'Okta' },
  emails: [{ primary: true, value: `${name}@example.com`, type: 'work' }],
  displayName: `${name} Okta`,
  locale: 'en-US',
  externalId: `00u-${name}`,
  groups: [],
  active: true,
  ...more,
});
