import { createApiKey, generateApiKey, SCOPES, type Scope } from '../../src/services/access/api-keys.ts';
import { createWorkspace } from '../../src/services/workspaces/workspaces.ts';
import { type Call, createCall, type TestService } from '../support/service.ts';

/** Another workspace of the service and a call function with its own key. */
export async function createOtherWorkspace(service: TestService, name: string): Promise<{ key: string; call: Call }> {
  const { db } = service.dependencies;
  const { id } = await createWorkspace(db.system, name, 'owner@example.test');
  const key = generateApiKey();
  await db
    .workspace(id)
    .transaction((query) => createApiKey(query, key, { name, scopes: [...SCOPES], expiresAt: null }));
  return { key, call: createCall(service.origin, key) };
}

/** A key of the first workspace with these scopes. */
export async function createKey(service: TestService, ...scopes: Scope[]): Promise<{ id: string; key: string }> {
  const { body } = await service.call('POST', '/api-keys', { body: { name: scopes.join(' '), scopes } });
  return body;
}
