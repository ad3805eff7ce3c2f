import { z } from 'zod';
import { idParams } from '../../http/fields.ts';
import type { Idempotency } from '../../http/idempotency.ts';
import { decodeCursor, PageQuery, toPage } from '../../http/pagination.ts';
import { defineRoute, type Route } from '../../http/route.ts';
import { generateApiKey, SCOPES } from '../../services/access/api-keys.ts';
import type { Authenticator } from '../../services/access/authenticate.ts';
import {
  createPersonalKey,
  listPersonalKeys,
  MAX_PERSONAL_KEYS,
  requireMember,
  revokePersonalKey,
} from '../../services/access/personal-keys.ts';
import { presentApiKey } from '../../services/access/present-api-key.ts';
import type { Quotas } from '../../services/workspaces/quotas.ts';
import { ApiKey, ApiKeyPage, CreateApiKey, CreatedApiKey } from '../api-keys/schema.ts';
import { personalKeySample } from './samples.ts';

const tag = 'Members';

/** `/me/api-keys`: the personal keys of the calling member. */
export function personalKeyRoutes(deps: {
  idempotency: Idempotency;
  quotas: Quotas;
  authenticator: Authenticator;
}): Route[] {
  return [
    defineRoute({
      method: 'get',
      path: '/me/api-keys',
      operationId: 'listMyApiKeys',
      tag,
      summary: 'List your personal API keys, newest first',
      scope: SCOPES,
      query: z.strictObject(PageQuery),
      response: ApiKeyPage,
      responseExample: { data: [personalKeySample], next_cursor: null },
      async handler({ db, key, query: { limit, cursor } }) {
        const page = await listPersonalKeys(db, requireMember(key), limit, decodeCursor(cursor, z.uuid()));
        return toPage(page, presentApiKey, ({ id }) => id);
      },
    }),
    defineRoute({
      method: 'post',
      path: '/me/api-keys',
      operationId: 'createMyApiKey',
      audit: ['api_key.created'],
      tag,
      summary: 'Create a personal API key; it is shown once',
      description:
        'The key has its scopes as long as your role allows them, and ends with your membership. It cannot have more scopes, or last longer, than the credential this ' +
        `request uses. A member can have at most ${MAX_PERSONAL_KEYS} keys.`,
      scope: SCOPES,
      status: 201,
      idempotent: true,
      body: CreateApiKey,
      bodyExamples: { 'For an editor': { name: "Ada's editor", scopes: ['read', 'execute'] } },
      response: CreatedApiKey,
      responseExample: { ...personalKeySample, key: 'pms_<43 characters>' },
      errors: ['quota_exceeded'],
      async handler(request) {
        requireMember(request.key);
        return deps.idempotency.createSecretOnce(request, async (query) => {
          const { name, scopes, expires_at: expiresAt } = request.body;
          const key = generateApiKey();
          const record = await createPersonalKey(query, request.key, key, {
            name,
            scopes: [...new Set(scopes)],
            expiresAt,
          });
          await deps.quotas.require(query, 'apiKeys');
          return { resourceId: record.id, response: { ...presentApiKey(record), key } };
        });
      },
    }),
    defineRoute({
      method: 'delete',
      path: '/me/api-keys/{id}',
      operationId: 'revokeMyApiKey',
      audit: ['api_key.revoked'],
      tag,
      summary: 'Revoke a personal API key immediately',
      scope: SCOPES,
      params: idParams('apiKey'),
      response: ApiKey,
      responseExample: { ...personalKeySample, revoked_at: '2026-02-01T08:00:00.000Z' },
      errors: ['not_found'],
      async handler({ db, key: caller, params }) {
        const { key, hash } = await revokePersonalKey(db, requireMember(caller), params.id);
        deps.authenticator.forgetKey(hash);
        return presentApiKey(key);
      },
    }),
  ];
}
