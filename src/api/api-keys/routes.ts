import { z } from 'zod';
import { ApiError } from '../../domain/errors.ts';
import { publicId } from '../../domain/ids.ts';
import { idParams } from '../../http/fields.ts';
import type { Idempotency } from '../../http/idempotency.ts';
import { decodeCursor, PageQuery, toPage } from '../../http/pagination.ts';
import { defineRoute, type Route } from '../../http/route.ts';
import {
  createApiKey,
  generateApiKey,
  getApiKey,
  listApiKeys,
  revokeApiKey,
  SCOPES,
} from '../../services/access/api-keys.ts';
import type { Authenticator } from '../../services/access/authenticate.ts';
import { memberOf, refuseAccessToken } from '../../services/access/personal-keys.ts';
import { presentApiKey } from '../../services/access/present-api-key.ts';
import type { Quotas } from '../../services/workspaces/quotas.ts';
import { apiKeySample } from './samples.ts';
import { ApiKey, ApiKeyPage, CreateApiKey, CreatedApiKey, CurrentApiKey } from './schema.ts';

/** `/api-keys`. */
export function apiKeyRoutes(deps: {
  idempotency: Idempotency;
  quotas: Quotas;
  authenticator: Authenticator;
}): Route[] {
  const tag = 'API keys';
  return [
    defineRoute({
      method: 'get',
      path: '/api-keys',
      operationId: 'listApiKeys',
      tag,
      summary: 'List API keys, newest first',
      scope: 'admin',
      query: z.strictObject(PageQuery),
      response: ApiKeyPage,
      responseExample: { data: [apiKeySample], next_cursor: null },
      async handler({ db, query: { limit, cursor } }) {
        const page = await listApiKeys(db, limit, decodeCursor(cursor, z.uuid()));
        return toPage(page, presentApiKey, ({ id }) => id);
      },
    }),
    defineRoute({
      method: 'post',
      path: '/api-keys',
      operationId: 'createApiKey',
      audit: ['api_key.created'],
      tag,
      summary: 'Create an API key; it is shown once',
      scope: 'admin',
      status: 201,
      idempotent: true,
      body: CreateApiKey,
      bodyExamples: { 'For a service': { name: 'checkout service', scopes: ['read', 'execute'] } },
      response: CreatedApiKey,
      responseExample: { ...apiKeySample, key: 'pms_<43 characters>' },
      handler: (request) =>
        deps.idempotency.createSecretOnce(request, async (query) => {
          refuseAccessToken(request.key);
          const { name, scopes, expires_at: expiresAt } = request.body;
          const key = generateApiKey();
          const record = await createApiKey(query, key, {
            name,
            scopes: [...new Set(scopes)],
            expiresAt: expiresAt ?? null,
            madeBy: request.key.memberId,
          });
          await deps.quotas.require(query, 'apiKeys');
          return { resourceId: record.id, response: { ...presentApiKey(record), key } };
        }),
    }),
    defineRoute({
      method: 'get',
      path: '/api-keys/current',
      operationId: 'getCurrentApiKey',
      tag,
      summary: 'Retrieve the API key of the request',
      description: 'Works with any key. For a session, returns the key that started it.',
      scope: SCOPES,
      response: CurrentApiKey,
      responseExample: { ...apiKeySample, member: null, workspace: { name: 'default' } },
      errors: ['not_found'],
      async handler({ db, key }) {
        const record = await getApiKey(db.query, key.id);
        const member = await memberOf(db.query, record.member_id);
        return {
          ...presentApiKey(record),
          // Limited to what the member's role allows.
          scopes: key.scopes,
          member: member && { ...member, id: publicId('member', member.id) },
          workspace: { name: key.workspaceName },
        };
      },
    }),
    defineRoute({
      method: 'delete',
      path: '/api-keys/current',
      operationId: 'revokeCurrentApiKey',
      audit: ['api_key.revoked'],
      tag,
      summary: 'Revoke the API key of the request immediately',
      description: 'Works with any key, whatever its scopes. To end a session, use `DELETE /session` instead.',
      scope: SCOPES,
      response: ApiKey,
      responseExample: { ...apiKeySample, revoked_at: '2026-02-01T08:00:00.000Z' },
      errors: ['not_found'],
      async handler({ db, key: { id, kind, sessionId } }) {
        if (kind === 'sign_in' || sessionId !== undefined)
          throw new ApiError(
            'invalid_request',
            'This request used a session or an access token, not a key. End a session with DELETE /v1/session; revoke keys by their id.',
          );
        const { key, hash } = await revokeApiKey(db, id);
        deps.authenticator.forgetKey(hash);
        return presentApiKey(key);
      },
    }),
    defineRoute({
      method: 'delete',
      path: '/api-keys/{id}',
      operationId: 'revokeApiKey',
      audit: ['api_key.revoked'],
      tag,
      summary: 'Revoke an API key immediately',
      scope: 'admin',
      params: idParams('apiKey'),
      response: ApiKey,
      responseExample: { ...apiKeySample, revoked_at: '2026-02-01T08:00:00.000Z' },
      async handler({ db, params }) {
        const { key, hash } = await revokeApiKey(db, params.id);
        deps.authenticator.forgetKey(hash);
        return presentApiKey(key);
      },
    }),
  ];
}
