import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { startTestService, type TestService } from '../support/service.ts';

const PAGE = 'https://app.example.com';
let service: TestService;
beforeAll(async () => {
  service = await startTestService({ CORS_ORIGINS: `${PAGE}, http://localhost:5173` }, { workers: false });
});
afterAll(() => service?.stop());

const preflight = (origin: string, path = '/v1/executions') =>
  fetch(`${service.origin}${path}`, {
    method: 'OPTIONS',
    headers: {
      Origin: origin,
      'Access-Control-Request-Method': 'POST',
      'Access-Control-Request-Headers': 'authorization,content-type,x-stainless-lang',
    },
  });

test.each([PAGE, 'http://localhost:5173'])('a page of %s may ask without a key', async (origin) => {
  const answer = await preflight(origin);
  expect(answer.status).toBe(200);
  expect(answer.headers.get('Access-Control-Allow-Origin')).toBe(origin);
  expect(answer.headers.get('Access-Control-Allow-Headers')).toBe('authorization,content-type,x-stainless-lang');
  expect(answer.headers.get('Access-Control-Allow-Methods')).toContain('DELETE');
  expect(answer.headers.get('Vary')).toContain('Origin');
  // A session is for pages of this service.
  expect(answer.headers.has('Access-Control-Allow-Credentials')).toBe(false);
});

test.each(['https://evil.example', 'https://app.example.com.evil.example', 'null'])(
  'a page of %s may not',
  async (origin) => {
    const answer = await preflight(origin);
    expect(answer.status).toBe(401);
    expect(answer.headers.has('Access-Control-Allow-Origin')).toBe(false);
  },
);

test('reads its answers, errors too', async () => {
  const headers = { Origin: PAGE };
  const found = await service.call('GET', '/prompts', { headers });
  expect([found.status, found.headers.get('Access-Control-Allow-Origin')]).toEqual([200, PAGE]);
  expect(found.headers.get('Access-Control-Expose-Headers')).toContain('Retry-After');
  const refused = await service.call('GET', '/prompts', { headers, key: 'wrong' });
  expect([refused.status, refused.headers.get('Access-Control-Allow-Origin')]).toEqual([401, PAGE]);
  const unknown = await service.call('GET', '/nothing', { headers });
  expect([unknown.status, unknown.headers.get('Access-Control-Allow-Origin')]).toEqual([404, PAGE]);
});

test('begins no session', async () => {
  const answer = await service.call('POST', '/session', {
    body: { key: service.key },
    headers: { Origin: PAGE },
    key: null,
  });
  expect([answer.status, answer.headers.get('Set-Cookie')]).toEqual([401, null]);
});
