import { readFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { PROJECT } from '../support/processes.ts';
import { startTestService, type TestService } from '../support/service.ts';

let service: TestService;
beforeAll(async () => {
  service = await startTestService({}, { workers: false });
});
afterAll(() => service?.stop());

const get = (at: string, init: RequestInit = {}) => fetch(`${service.origin}${at}`, init);
const textOf = async (at: string) => (await get(at)).text();
const searchFor = (question: string) => `/docs/search?${new URLSearchParams({ q: question }).toString()}`;
const ask = (question: string) => textOf(searchFor(question));
const addressesIn = (html: string) => [...html.matchAll(/<li><a href="([^"]*)"/g)].map(([, address = '']) => address);

const questions = [...readFileSync(path.join(PROJECT, 'docs/how-to.md'), 'utf8').matchAll(/^### (.*)$/gm)].map(
  ([, question = '']) => question,
);
const addressOf = (question: string) =>
  `/docs/guides/how-to#${question
    .toLowerCase()
    .replace(/[^\w\- ]/g, '')
    .replaceAll(' ', '-')}`;

describe('the search', () => {
  test.each(questions)('has in the first three: %s', async (question) => {
    expect(addressesIn(await ask(question)).slice(0, 3)).toContain(addressOf(question));
  });

  test.each([
    ['roll back prompt', 'how-to#how-do-i-roll-back-to-an-earlier-version'],
    ['staging vs production', 'how-to#how-do-i-keep-development-staging-and-production-apart'],
    ['escape curly braces', 'how-to#how-do-i-write-literal-curly-braces-or-json-in-a-template'],
    ['ollama', 'how-to#how-do-i-use-ollama-vllm-lm-studio-or-another-openai-compatible-server'],
    ['LLM-as-a-judge', 'how-to#how-do-i-grade-answers-with-an-llm-as-a-judge'],
    ['A/B testing', 'how-to#how-do-i-ab-test-two-prompt-versions-in-production'],
    ['user feedback thumbs up', 'how-to#how-do-i-collect-thumbs-up-or-down-from-my-users'],
    ['custom model price', 'how-to#how-do-i-set-the-price-of-my-own-or-a-new-model'],
    ['fail CI', 'how-to#how-do-i-fail-a-pull-request-when-quality-drops'],
    ['idempotency key', 'api-contract#idempotency'],
    ['rotate encryption key', 'operations#rotating-encryption_key'],
    ['temporal workflows ui', 'operations#workflows-in-the-temporal-ui'],
  ])('finds other words, too: %s', async (words, address) => {
    expect(addressesIn(await ask(words)).slice(0, 3)).toContain(`/docs/guides/${address}`);
  });

  test('forgives a typo', async () => {
    expect(addressesIn(await ask('idempotentcy'))[0]).toContain('idempotency');
  });

  test('leads to existing headings', async () => {
    for (const address of addressesIn(await ask('webhook'))) {
      const [at = '', id] = address.split('#');
      expect(await textOf(at)).toContain(` id="${id}"`);
    }
  });

  test.each([
    '',
    ' ',
    '<script>alert(1)</script>',
    '"><img src=x onerror=alert(1)>',
    '\u0000',
    '\ud800',
    '.*'.repeat(100),
    '__proto__ constructor toString',
    "'; drop table prompts; --",
    '世界 🌍',
    'a'.repeat(10_000),
    'prompt '.repeat(1_000),
  ])('accepts any question as text: %#', async (question) => {
    const answer = await get(searchFor(question));
    expect(answer.status).toBe(200);
    const html = await answer.text();
    expect(html).not.toMatch(/<script|<img|onerror=alert\(1\)>/);
    expect(html.length).toBeLessThan(40_000);
  });

  test('takes one question or none', async () => {
    expect(await textOf('/docs/search')).toContain('Ask a question');
    expect((await get('/docs/search?q=a&q=b')).status).toBe(400);
    expect(await ask('xyzzyplugh')).toContain('Nothing was found');
  });
});

describe('the guides', () => {
  test('are pages without scripts or external resources', async () => {
    for (const at of ['/docs/guides', '/docs/guides/', '/docs/guides/console', '/docs/search?q=prompt']) {
      const answer = await get(at);
      expect([at, answer.status, answer.headers.get('Content-Type')]).toEqual([at, 200, 'text/html; charset=utf-8']);
      const policy = answer.headers.get('Content-Security-Policy') ?? '';
      expect(policy).toMatch(/^default-src 'none'; style-src 'self'; img-src 'self';/);
      expect(policy).toContain("frame-ancestors 'none'");
      expect(answer.headers.get('X-Content-Type-Options')).toBe('nosniff');
      const html = await answer.text();
      expect(html).not.toMatch(/<script| style=| on\w+="|(src|action)="(?!\/docs\/)/);
    }
    expect((await get('/docs/guides.css')).headers.get('Content-Type')).toContain('text/css');
  });

  test('show HTML in a sample as text', async () => {
    expect(await textOf('/docs/guides/scores')).toContain('&lt;!doctype html&gt;');
  });

  test('link to each other, to headings and to images, all of which exist', async () => {
    const seen = new Map<string, string>();
    const waiting = ['/docs/guides'];
    const links: string[] = [];
    for (let at = waiting.pop(); at !== undefined; at = waiting.pop()) {
      if (seen.has(at)) continue;
      const answer = await get(at);
      expect([at, answer.status]).toEqual([at, 200]);
      const isPage = answer.headers.get('Content-Type')?.startsWith('text/html');
      const html = isPage ? await answer.text() : '';
      if (!isPage) expect((await answer.arrayBuffer()).byteLength).toBeGreaterThan(100);
      seen.set(at, html);
      for (const [, address = ''] of html.matchAll(/(?:href|src)="(\/docs\/guides(?:[/#][^"]*)?|#[^"]*)"/g)) {
        const full = address.startsWith('#') ? `${at}${address}` : address;
        links.push(full);
        waiting.push(full.split('#')[0] ?? '');
      }
    }
    for (const link of links) {
      const [at = '', id] = link.split('#');
      if (id !== undefined) expect([link, seen.get(at)?.includes(` id="${id}"`)]).toEqual([link, true]);
    }
    expect(seen.size).toBeGreaterThan(60);
    for (const at of ['how-to', 'troubleshooting', 'frameworks', 'clients/python', 'migrating/langfuse'])
      expect([...seen.keys()]).toContain(`/docs/guides/${at}`);
  });

  test.each([
    '/docs/guides/unknown',
    '/docs/guides/how-to.md',
    '/docs/guides/../package.json',
    '/docs/guides/..%2f..%2fpackage.json',
    '/docs/guides/%2e%2e/%2e%2e/package',
    '/docs/guides//etc/passwd',
    '/docs/guides/images',
    '/docs/guides/images/..%2f..%2fpackage.json',
    '/docs/guides/__proto__',
    '/docs/guides/constructor',
    '/docs/guides/%00',
    '/docs/guides/%',
    '/docs/guidesx',
  ])('are nothing else: %s', async (at) => {
    const answer = await get(at);
    expect([answer.status, await answer.json()]).toMatchObject([404, { error: { code: 'not_found' } }]);
  });

  test('are read-only', async () => {
    for (const at of ['/docs/guides', '/docs/search', '/docs/guides.css']) {
      const head = await get(at, { method: 'HEAD' });
      expect([head.status, await head.text()]).toEqual([200, '']);
      expect((await get(at, { method: 'POST' })).status).toBe(400);
    }
  });
});
