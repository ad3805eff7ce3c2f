import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { z } from 'zod';
import { allRoutes } from '../../src/api/server.ts';
import { defineRoute, isCalledUnread, type Route, type RouteRequest, scopesOf } from '../../src/http/route.ts';
import { runHandler } from '../../src/http/run-route.ts';
import { shown, unread } from '../../src/http/unread.ts';
import type { Scope } from '../../src/services/access/api-keys.ts';
import { startTestService, type TestService } from '../support/service.ts';

const STORED = 'confidential';

let service: TestService;
let routes: Route[];
beforeAll(async () => {
  service = await startTestService({}, { workers: false });
  routes = allRoutes(service.dependencies, { eager: false }).routes.filter(isCalledUnread);
});
afterAll(() => service?.stop());

/** The parts of a response shown to a key with these scopes. */
function shownTo(scopes: readonly Scope[], route: Route, response: unknown) {
  const request = { key: { scopes } } as RouteRequest<unknown, unknown, unknown>;
  const handling = { reserve: async () => {} } as unknown as Parameters<typeof runHandler>[2];
  const answering = defineRoute({ ...route, method: 'post', audit: 'none', handler: async () => response });
  return runHandler(answering, request, handling, async () => {});
}

/** The same schema with an additional unmarked field in its objects. */
function withField(schema: z.ZodType): z.ZodType {
  if (schema instanceof z.ZodUnion) return z.union(schema.options.map((option) => withField(option as z.ZodType)));
  if (!(schema instanceof z.ZodObject)) throw new Error('A response that is not an object.');
  return schema.extend({ added: z.string() });
}

test('a field added to any response is hidden from keys without read, and so is one without a schema', async () => {
  expect(routes.length).toBeGreaterThan(60);
  for (const route of routes) {
    const scope = scopesOf(route).filter((each) => each !== 'admin');
    const response = { ...Object(route.responseExample), added: STORED, unknown: STORED };
    const changed = { ...route, response: withField(route.response) };
    const answer = await shownTo(scope, changed, response);
    expect([route.operationId, answer]).toEqual([route.operationId, expect.objectContaining({ added: '' })]);
    expect([route.operationId, JSON.stringify(answer)]).toEqual([
      route.operationId,
      expect.not.stringContaining(STORED),
    ]);
    expect(await shownTo([...scope, 'read'], changed, response)).toBe(response);
    expect(await shownTo(['admin'], changed, response)).toBe(response);
  }
});

test('every hidden field is in the document, with an empty value in its place', async () => {
  for (const route of routes) {
    const { withoutRead = {}, operationId } = route;
    const fields = route.response instanceof z.ZodObject ? Object.keys(route.response.shape) : [];
    const stored = Object.fromEntries(fields.map((field) => [field, STORED]));
    const answer: object = Object(
      await shownTo(scopesOf(route), { ...route, scope: ['write', 'execute', 'score'] }, stored),
    );
    const hidden = Object.keys(answer).filter((field) => Reflect.get(answer, field) !== STORED);
    if (fields.length > 0)
      expect([operationId, hidden.toSorted()]).toEqual([operationId, Object.keys(withoutRead).toSorted()]);
  }
});

const Item = z.object({ name: shown(z.string()), secret: z.string() });
const spec = {
  method: 'post',
  path: '/things',
  operationId: 'makeThing',
  audit: 'none',
  tag: 'Things',
  summary: 'Make a thing',
  scope: 'write',
  responseExample: {},
  handler: async () => ({}),
} as const;

test('fields of a marked object are hidden in lists and in other objects, too', async () => {
  const response = z.union([Item, z.object({ data: shown(z.array(Item)), item: shown(Item.nullable()) })]);
  const item = { name: 'mine', secret: STORED };
  const route = defineRoute({ ...spec, response });
  const hidden = { name: 'mine', secret: '' };
  expect(await shownTo(['write'], route, { data: [item], item })).toMatchObject({ data: [hidden], item: hidden });
  expect(await shownTo(['write'], route, item)).toMatchObject(hidden);
  expect(await shownTo(['write'], { ...route, shows: ['secret'] }, { data: [item], item: null })).toMatchObject({
    data: [item],
    item: null,
  });
});

test('a field of several responses is shown only if it is marked', () => {
  const Shared = z.string().meta({ description: 'Of many.' });
  const Marked = z.object({ one: shown(Shared), other: Shared, nullable: shown(Shared).nullable() });
  expect(defineRoute({ ...spec, response: Marked }).withoutRead).toEqual({ other: '', nullable: null });
  expect(defineRoute({ ...spec, response: Marked.extend({ more: Shared }) }).withoutRead).toHaveProperty('more');
});

test('an operation is refused if a field has no known replacement', () => {
  const response = z.object({ state: z.enum(['on', 'off']) });
  expect(() => defineRoute({ ...spec, response })).toThrow('state');
  expect(defineRoute({ ...spec, scope: 'read', response }).withoutRead).toBeUndefined();
  const said = z.object({ state: unread(z.enum(['on', 'off']), 'off') });
  expect(defineRoute({ ...spec, response: said }).withoutRead).toEqual({ state: 'off' });
  expect(() => defineRoute({ ...spec, response: said, shows: ['gone'] })).toThrow('gone');
});
