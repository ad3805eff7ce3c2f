import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { tmpdir } from 'node:os';
import path from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { gunzipSync } from 'node:zlib';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { run } from '../../scripts/python.ts';

const script = fileURLToPath(new URL('../../scripts/check-audit.ts', import.meta.url));
const ADVISORY = {
  id: 1,
  url: 'https://github.com/advisories/GHSA-aaaa-bbbb-cccc',
  title: 'It answers too much',
  severity: 'high',
  vulnerable_versions: '*',
  cwe: [],
  cvss: { score: 0, vectorString: null },
};

/** A registry with only the advisory endpoint: it knows one for koa. `undefined`: the endpoint is missing. */
let advisories: Record<string, unknown[]> | undefined;
let asked: string[];
let server: Server;
let folder: string;
beforeEach(async () => {
  asked = [];
  advisories = {};
  folder = mkdtempSync(path.join(tmpdir(), 'pms-audit-'));
  server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      if (request.method !== 'POST') return response.writeHead(404).end('{}');
      if (advisories === undefined) return response.writeHead(405).end();
      const names = Object.keys(JSON.parse(gunzipSync(Buffer.concat(chunks)).toString()));
      asked.push(...names);
      const known = Object.entries(advisories).filter(([name]) => names.includes(name));
      return response
        .writeHead(200, { 'content-type': 'application/json' })
        .end(JSON.stringify(Object.fromEntries(known)));
    });
  }).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
});
afterEach(() => {
  server.close();
  rmSync(folder, { recursive: true });
});

function check(allowed: object[], ...args: string[]) {
  const address = server.address();
  const port = address === null || typeof address === 'string' ? 0 : address.port;
  const file = path.join(folder, 'allowed.json');
  writeFileSync(file, JSON.stringify(allowed));
  const env = {
    npm_config_registry: `http://127.0.0.1:${port}`,
    npm_config_cache: path.join(folder, 'cache'),
    npm_config_fetch_retries: '0',
  };
  return run(process.execPath, [script, '--allowed', file, ...args], { env });
}
const allowed = (until: string) => ({
  advisory: 'GHSA-aaaa-bbbb-cccc',
  reason: 'No request reaches that code.',
  until,
});

test('shipped packages are queried, and known vulnerabilities never pass', async () => {
  expect(await check([])).toMatchObject({ code: 0, output: expect.stringContaining('No package that is shipped') });
  expect(asked).toEqual(expect.arrayContaining(['koa', 'pg', 'react', 'eventsource-parser']));
  expect(asked).not.toContain('jest');
  advisories = { koa: [ADVISORY] };
  expect(await check([])).toMatchObject({
    code: 1,
    output: expect.stringContaining('high: koa *: It answers too much'),
  });
});

test('an explained vulnerability passes until its day, and must go when unused', async () => {
  advisories = { koa: [ADVISORY] };
  expect(await check([allowed('2999-12-31')])).toMatchObject({ code: 0 });
  const expired = await check([allowed('2020-01-31')]);
  expect(expired).toMatchObject({ code: 1, output: expect.stringContaining('was allowed until 2020-01-31') });
  advisories = {};
  const stale = await check([allowed('2999-12-31')]);
  expect(stale).toMatchObject({ code: 1, output: expect.stringContaining('which no package has anymore') });
});

test('a registry without advisories is reported, and fails only if it is required', async () => {
  advisories = undefined;
  expect(await check([])).toMatchObject({ code: 0, output: expect.stringContaining('NOT CHECKED') });
  expect(await check([], '--required')).toMatchObject({ code: 1 });
});
