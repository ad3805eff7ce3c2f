import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { serveMetrics } from '../../src/metrics.ts';
import { startTestService, type TestService } from '../support/service.ts';

let service: TestService;
let metrics: Awaited<ReturnType<typeof serveMetrics>>;
beforeAll(async () => {
  service = await startTestService({ TRUST_PROXY: 'true' }, { workers: false });
  metrics = await serveMetrics(service.dependencies);
});
afterAll(async () => {
  await metrics?.close(0);
  await service?.stop();
});

const get = (path: string, headers: Record<string, string> = {}) => fetch(`${service.origin}${path}`, { headers });

/** The requirements of a scanner for every response. */
function checkHeaders({ headers }: Response): void {
  expect(headers.get('X-Content-Type-Options')).toBe('nosniff');
  expect(headers.get('X-Frame-Options')).toBe('DENY');
  expect(headers.get('Referrer-Policy')).toBe('no-referrer');
  expect(headers.get('Cross-Origin-Resource-Policy')).toBe('same-origin');
  expect(headers.get('Content-Security-Policy')).toContain("default-src 'none'");
  expect(headers.get('Content-Security-Policy')).toContain("frame-ancestors 'none'");
  expect(headers.get('Cache-Control')).not.toBeNull();
  for (const name of ['Server', 'X-Powered-By']) expect(headers.get(name)).toBeNull();
}

describe('every response has the security headers', () => {
  test.each([
    ['/healthz', 200],
    ['/openapi.json', 200],
    ['/docs', 200],
    ['/docs/start.js', 200],
    ['/docs/swagger-ui.css', 200],
    ['/docs/unknown', 404],
    ['/', 200],
    ['/console/config.json', 200],
    ['/nothing', 404],
    ['/v1/prompts', 401],
    ['/v1/nothing', 401],
  ])('%s (%i)', async (path, status) => {
    const response = await get(path);
    expect(response.status).toBe(status);
    checkHeaders(response);
  });

  test('with a key: found, not found, not possible', async () => {
    const headers = { Authorization: `Bearer ${service.key}` };
    for (const path of ['/v1/prompts', '/v1/prompts/none', '/v1/prompts?limit=x']) {
      const response = await get(path, headers);
      checkHeaders(response);
      expect(response.headers.get('Cache-Control')).toBe('no-store');
    }
  });

  test('on the port of the metrics', async () => {
    for (const path of ['/metrics', '/else']) checkHeaders(await fetch(`http://127.0.0.1:${metrics.port}${path}`));
  });
});

test('lasting https is required only if the caller used it', async () => {
  const name = 'Strict-Transport-Security';
  expect((await get('/healthz', { 'X-Forwarded-Proto': 'https' })).headers.get(name)).toBe('max-age=31536000');
  expect((await get('/healthz', { 'X-Forwarded-Proto': 'http' })).headers.get(name)).toBeNull();
  expect((await get('/healthz')).headers.get(name)).toBeNull();
});

test('the page of the documentation can load only what it needs from here', async () => {
  const page = await get('/docs');
  const policy = page.headers.get('Content-Security-Policy') ?? '';
  for (const part of ["script-src 'self'", "connect-src 'self'", "img-src 'self' data:", "form-action 'none'"])
    expect(policy).toContain(part);
  const html = await page.text();
  // No inline script, which the policy would stop.
  expect(html).not.toMatch(/<script(?![^>]*\bsrc=)/);
  for (const [, path] of html.matchAll(/(?:src|href)="([^"]+)"/g)) expect((await get(path ?? '')).status).toBe(200);
});
