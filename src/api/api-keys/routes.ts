import { z } from 'zod';
import { publicId } from '../../domain/ids.ts';
import { idParams, saneText, Timestamp, TimestampInput } from '../../http/fields.ts';
import type { Idempotency } from '../../http/idempotency.ts';
import { decodeCursor, PageQuery, pageOf, toPage } from '../../http/pagination.ts';
import { defineRoute, type Route } from '../../http/route.ts';
import {
  type ApiKeyRow,
  createApiKey,
  generateApiKey,
  listApiKeys,
  revokeApiKey,
  SCOPES,
} from '../../services/access/api-keys.ts';
import type { Authenticator } from '../../services/access/authenticate.ts';
import type { Quotas } from '../../services/workspaces/quotas.ts';

const Scopes = z.array(z.enum(SCOPES, `must be one of ${SCOPES.join(', ')}`)).meta({
  description:
    '`read`, `execute` (run prompts and evaluations), `write` (change things), `admin` (keys, and everything).',
});

const CreateApiKey = z
  .strictObject({
    name: saneText().min(1, 'must not be empty').max(100, 'must be at most 100 characters'),
    scopes: Scopes.min(1, 'must name at least one scope').max(SCOPES.length),
    expires_at: TimestampInput.refine((time) => time.getTime() > Date.now(), 'must be in the future')
      .nullable()
      .optional(),
  })
  .meta({ id: 'CreateApiKey' });

const ApiKey = z
  .object({
    id: z.string(),
    name: z.string(),
    scopes: Scopes,
    expires_at: Timestamp.nullable(),
    revoked_at: Timestamp.nullable(),
    last_used_at: Timestamp.nullable(),
    created_at: Timestamp,
  })
  .meta({ id: 'ApiKey' });

const CreatedApiKey = ApiKey.extend({
  key: z.string().meta({ description: 'The key itself. It is shown this once and stored nowhere.' }),
}).meta({ id: 'CreatedApiKey' });

const example = {
  id: 'key_0198f0aa-7e5c-7c3a-9d55-0c9f6f1f2a11',
  name: 'checkout service',
  scopes: ['read', 'execute'],
  expires_at: null,
  revoked_at: null,
  last_used_at: null,
  created_at: '2026-01-31T12:00:00.000Z',
};

function presentKey(key: ApiKeyRow) {
  return {
    id: publicId('apiKey', key.id),
    name: key.name,
    scopes: key.scopes,
    expires_at: key.expires_at?.toISOString() ?? null,
    revoked_at: key.revoked_at?.toISOString() ?? null,
    last_used_at: key.last_used_at?.toISOString() ?? null,
    created_at: key.created_at.toISOString(),
  };
}

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
      summary: 'List the keys of the workspace, newest first',
      scope: 'admin',
      query: z.strictObject(PageQuery),
      response: pageOf(ApiKey).meta({ id: 'ApiKeyPage' }),
      responseExample: { data: [example], next_cursor: null },
      async handler({ db, query: { limit, cursor } }) {
        const before = decodeCursor(cursor, z.uuid());
        const rows = await listApiKeys(db, { before, limit: limit + 1 });
        return toPage({ rows: rows.slice(0, limit), more: rows.length > limit }, presentKey, ({ id }) => id);
      },
    }),
    defineRoute({
      method: 'post',
      path: '/api-keys',
      operationId: 'createApiKey',
      tag,
      summary: 'Make a key; it is shown once',
      scope: 'admin',
      status: 201,
      idempotent: true,
      body: CreateApiKey,
      bodyExamples: { 'For a service': { name: 'checkout service', scopes: ['read', 'execute'] } },
      response: CreatedApiKey,
      responseExample: { ...example, key: 'pms_<43 characters>' },
      handler: (request) =>
        deps.idempotency.createOnce(request, async (query) => {
          const { name, scopes, expires_at: expiresAt } = request.body;
          const key = generateApiKey();
          const record = await createApiKey(query, key, {
            name,
            scopes: [...new Set(scopes)],
            expiresAt: expiresAt ?? null,
          });
          await deps.quotas.require(query, 'apiKeys');
          return { resourceId: record.id, response: { ...presentKey(record), key } };
        }),
    }),
    defineRoute({
      method: 'delete',
      path: '/api-keys/{id}',
      operationId: 'revokeApiKey',
      tag,
      summary: 'Revoke a key, at once and everywhere',
      scope: 'admin',
      params: idParams('apiKey'),
      response: ApiKey,
      responseExample: { ...example, revoked_at: '2026-02-01T08:00:00.000Z' },
      async handler({ db, params }) {
        const { key, hash } = await revokeApiKey(db, params.id);
        deps.authenticator.forget(hash);
        return presentKey(key);
      },
    }),
  ];
}
