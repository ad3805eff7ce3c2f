import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import Koa, { type Middleware } from 'koa';
import { pino } from 'pino';
import { consoleRoutes } from '../../src/http/console.ts';
import { listen, type RunningServer } from '../../src/http/http-server.ts';
import { errorResponses } from '../../src/http/middleware/error-responses.ts';
import type { AppState } from '../../src/http/state.ts';
import { sendRaw } from './raw-http.ts';

const SCRIPT = 'console.log("hello");'.repeat(100);
const CONFIG = { version: '1.2.3', temporal_workflows_url: null, sign_in: { providers: [], by_key: true } };
const BROWSER = { Accept: 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8' };

let folder: string;
const servers: RunningServer[] = [];

/** A server of nothing but the console. */
async function serve(build: string): Promise<number> {
  const app = new Koa<AppState>();
  app.use(async (ctx, next) => {
    ctx.state.log = pino({ level: 'silent' });
    await next();
  });
  app.use(errorResponses(() => undefined));
  const routes: Middleware = consoleRoutes(build, CONFIG);
  app.use(routes);
  app.use((ctx) => {
    ctx.body = 'elsewhere';
  });
  const server = await listen(app.callback(), { host: '127.0.0.1', port: 0, setting: 'PORT' });
  servers.push(server);
  return server.port;
}

let port: number;
beforeAll(async () => {
  folder = mkdtempSync(path.join(tmpdir(), 'pms-console-'));
  const build = path.join(folder, 'build');
  mkdirSync(path.join(build, 'assets'), { recursive: true });
  writeFileSync(path.join(folder, 'secret.txt'), 'secret');
  writeFileSync(path.join(build, 'index.html'), '<meta nonce="__CSP_NONCE__">the page');
  const file = path.join(build, 'assets', 'index-abc.js');
  writeFileSync(file, SCRIPT);
  writeFileSync(`${file}.br`, brotliCompressSync(SCRIPT));
  writeFileSync(`${file}.gz`, gzipSync(SCRIPT));
  port = await serve(build);
});
afterAll(async () => {
  await Promise.all(servers.map((server) => server.close(0)));
  rmSync(folder, { recursive: true, force: true });
});

const get = (at: string, init?: RequestInit) => fetch(`http://127.0.0.1:${port}${at}`, init);

describe('files of the build', () => {
  test.each([
    ['br, gzip', 'br'],
    ['gzip', 'gzip'],
    ['identity', null],
  ])('accepting %s', async (accepted, sent) => {
    const response = await get('/console/assets/index-abc.js', { headers: { 'Accept-Encoding': accepted } });
    expect(response.status).toBe(200);
    expect(response.headers.get('Content-Encoding')).toBe(sent);
    expect(response.headers.get('Content-Type')).toMatch(/^(text|application)\/javascript/);
    expect(response.headers.get('Cache-Control')).toContain('immutable');
    expect(response.headers.get('Vary')).toContain('Accept-Encoding');
    expect(await response.text()).toBe(SCRIPT);
  });

  test('HEAD has only the headers', async () => {
    const response = await get('/console/assets/index-abc.js', { method: 'HEAD' });
    expect(response.status).toBe(200);
    expect(Number(response.headers.get('Content-Length'))).toBeGreaterThan(0);
    expect(await response.text()).toBe('');
  });

  test.each(['/console/assets/index-old.js', '/console/assets/', '/console/assets/index-abc.js.br'])(
    'there is no %s',
    async (at) => {
      const response = await get(at);
      expect([response.status, await response.json()]).toMatchObject([404, { error: { code: 'not_found' } }]);
    },
  );

  test.each([
    '/console/../secret.txt',
    '/console/..%2fsecret.txt',
    '/console/assets/../../secret.txt',
    '/console/%2e%2e/secret.txt',
    '/console/..%5csecret.txt',
    '/console/%ff',
  ])('no file outside the build: %s', async (at) => {
    const answer = await sendRaw(port, `GET ${at} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`);
    expect(answer.status).toBe(404);
    expect(answer.body).not.toContain('secret.txt');
  });
});

describe('the page', () => {
  test.each(['/console', '/console/', '/console/prompts/support/v1.2', '/console/executions/exec_1?tab=calls'])(
    'is at every other path: %s',
    async (at) => {
      const response = await get(at);
      expect(response.status).toBe(200);
      expect(response.headers.get('Content-Type')).toContain('text/html');
      expect(response.headers.get('Cache-Control')).toBe('no-store');
      expect(await response.text()).toContain('the page');
    },
  );

  test('has a policy with a nonce of its own each time', async () => {
    const [one, other] = await Promise.all([get('/console'), get('/console')]);
    const policy = one.headers.get('Content-Security-Policy') ?? '';
    const nonce = /'nonce-([^']+)'/.exec(policy)?.[1] ?? '';
    expect(nonce.length).toBeGreaterThan(20);
    expect(await one.text()).toContain(`nonce="${nonce}"`);
    expect(other.headers.get('Content-Security-Policy')).not.toContain(nonce);
    for (const part of ["default-src 'none'", "script-src 'self'", "connect-src 'self'", "frame-ancestors 'none'"])
      expect(policy).toContain(part);
    expect(policy).not.toContain('unsafe');
  });

  test('has only GET and HEAD', async () => {
    expect((await get('/console', { method: 'HEAD' })).status).toBe(200);
    const response = await get('/console', { method: 'POST' });
    expect([response.status, await response.json()]).toMatchObject([400, { error: { code: 'invalid_request' } }]);
  });
});

test('console data about the installation', async () => {
  expect(await (await get('/console/config.json')).json()).toEqual(CONFIG);
});

test('paths that only begin alike are not the console', async () => {
  expect(await (await get('/consoles')).text()).toBe('elsewhere');
});

test('"/" leads browsers to the console, and shows programs the addresses', async () => {
  const page = await get('/', { headers: BROWSER });
  expect(page.status).toBe(200);
  expect(await page.text()).toContain('http-equiv="refresh" content="0; url=/console"');
  expect(await (await get('/')).json()).toMatchObject({ console: '/console', api: '/v1', documentation: '/docs' });
});

test('a missing build has a page', async () => {
  const unbuilt = await serve(path.join(folder, 'nothing'));
  const response = await fetch(`http://127.0.0.1:${unbuilt}/console/prompts`);
  expect(response.status).toBe(404);
  expect(await response.text()).toContain('has not been built');
});
