import { readFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, test } from '@jest/globals';
import { readLangfuseApi } from '../../../cli/src/importers/import-source.ts';
import { planImport } from '../../../cli/src/importers/plan.ts';
import { formatReportLine } from '../../../cli/src/importers/report.ts';
import { importSettings } from '../../../cli/src/importers/settings.ts';
import { emptyWorkspace, examplesOf, fixture, planFiles, versionsOf } from './support.ts';

describe('saved answers of Langfuse', () => {
  test('become prompts with versions, labels, includes, placeholders and config', async () => {
    const planned = await planFiles('langfuse', fixture('langfuse'));
    expect(versionsOf(planned, 'support/tone')).toEqual([
      expect.objectContaining({ template: 'Be polite.', model: 'gpt-4.1-mini', parameters: {} }),
      expect.objectContaining({
        template: 'Be warm to {{ user_first_name }}. JSON looks like {"a": {"b": 1} }.',
        parameters: { temperature: 0.2 },
        config: { model: 'gpt-4.1-mini', temperature: 0.2, audience: 'eu', langfuse_tags: ['shared'] },
        commit_message: 'Warmer',
      }),
    ]);
    expect(versionsOf(planned, 'support/answer')).toEqual([
      expect.objectContaining({
        messages: [
          { role: 'system', content: '{{> support/tone@2 }}\nAnswer in {{ language }}.' },
          { placeholder: 'history', required: false },
          { role: 'user', content: '{{ question }}' },
        ],
      }),
    ]);
    const steps = planned.steps.map((step) =>
      step.kind === 'label' ? `${step.name}@${step.label} → ${step.version}` : step.kind,
    );
    // An included prompt comes before the one that includes it, with its label.
    expect(steps.indexOf('support/tone@production → 2')).toBeLessThan(
      planned.steps.findIndex((step) => 'name' in step && step.name === 'Tr-ume-more'),
    );
    expect(steps).toContain('support/answer@Beta-Test → 1');
  });

  test('are reported one by one: what changed, what is left out and why', async () => {
    const { report } = await planFiles('langfuse', fixture('langfuse'));
    expect(report).toEqual([
      'prompt support/tone: taken with a change: version 2 becomes version 1; tags are kept in config.langfuse_tags, 2 times (version 2, version 4); ' +
        'version 4 becomes version 2; parameters are read from its config, which is kept too (version 4); ' +
        'the variable "user.first-name" is called "user_first_name" (version 4)',
      'prompt support/answer: taken with a change: version 3 is left out: only the list names it, its content is missing; ' +
        'version 2 is left out: it refers to "support/missing" at the label "production", which is not among the imported text prompts; ' +
        'parameters are read from its config, which is kept too (version 1); tools stay in its config and are not sent to the model (version 1); ' +
        'the label "Beta Test" is called "Beta-Test"',
      'prompt support/sections: left out: the template has a section ("{{#…}}")',
      'prompt Träume & more: taken with a change: it is called "Tr-ume-more"',
      'prompt no-model: left out: it names no model: set one for such prompts with --model',
      'prompt in-circle-a: left out: it refers to version 1 of "support/sections", which is not among the imported text prompts',
      'prompt backslash: left out: a backslash stands right before a placeholder, which would make it literal text here',
    ]);
  });

  test('get a model if they name none', async () => {
    const planned = await planFiles('langfuse', fixture('langfuse'), 'openai/gpt-5-mini');
    expect(versionsOf(planned, 'no-model')).toEqual([expect.objectContaining({ model: 'openai/gpt-5-mini' })]);
  });

  test('become datasets', async () => {
    const planned = await planFiles('langfuse', fixture('langfuse-datasets'));
    expect(await examplesOf(planned, 'Support-questions')).toEqual([
      {
        id: 'item-1',
        variables: { question: 'How long does a refund take?', user_first_name: 'Ada' },
        expected: '14 days',
        metadata: { area: 'billing' },
      },
      {
        id: 'item-2',
        variables: { input: 'Where are you?' },
        expected: { city: 'Paris' },
        metadata: { metadata: 'plain' },
      },
    ]);
    expect(planned.report).toEqual([expect.stringContaining('left out: an item is archived (item-3)')]);
    expect(planned.report[0]).toContain(
      'left out: an example: input.question must not contain NUL or an unpaired surrogate (item-4)',
    );
  });
});

/** Answers as Langfuse's public API does, page by page. */
async function withLangfuse(
  answer: (url: URL, request: IncomingMessage, response: ServerResponse) => unknown,
  work: (baseUrl: string, asked: string[]) => Promise<void>,
): Promise<void> {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    const url = new URL(request.url ?? '/', 'http://langfuse');
    asked.push(request.url ?? '');
    const body = answer(url, request, response);
    if (response.writableEnded) return;
    if (body === undefined) response.statusCode = 404;
    response.end(JSON.stringify(body ?? { message: 'Not found' }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  try {
    await work(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, asked);
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

describe("Langfuse's API", () => {
  const access = { publicKey: 'pk-lf-1', secretKey: 'sk-lf-1' };

  test('is read page by page, each version unresolved, items when needed', async () => {
    const prompts: { name: string; version: number }[] = JSON.parse(
      await readFile(fixture('langfuse/prompts.json'), 'utf8'),
    );
    const names = [...new Set(prompts.map(({ name }) => name))];
    const page = (items: unknown[], url: URL) => {
      const at = Number(url.searchParams.get('page'));
      return {
        data: items.slice((at - 1) * 2, at * 2),
        meta: { page: at, limit: 2, totalItems: items.length, totalPages: Math.ceil(items.length / 2) },
      };
    };
    let throttled = false;
    const answer = (url: URL, { headers }: IncomingMessage, response: ServerResponse) => {
      expect(headers.authorization).toBe(`Basic ${Buffer.from('pk-lf-1:sk-lf-1').toString('base64')}`);
      if (!throttled) {
        throttled = true;
        response.writeHead(429, { 'Retry-After': '0' }).end('{}');
        return undefined;
      }
      const versions = (name: string) => prompts.filter((prompt) => prompt.name === name).map(({ version }) => version);
      if (url.pathname === '/api/public/v2/prompts')
        return page(
          names.map((name) => ({ name, versions: versions(name) })),
          url,
        );
      if (url.pathname === '/api/public/v2/datasets') return page([{ name: 'cases', description: 'All' }], url);
      if (url.pathname === '/api/public/dataset-items')
        return page(
          [1, 2, 3].map((id) => ({ id: `i${id}`, input: { question: `${id}?` }, expectedOutput: null })),
          url,
        );
      if (!url.pathname.startsWith('/api/public/v2/prompts/')) return undefined;
      const name = decodeURIComponent(url.pathname.replace('/api/public/v2/prompts/', ''));
      expect(url.searchParams.get('resolve')).toBe('false');
      return prompts.find(
        (prompt) => prompt.name === name && prompt.version === Number(url.searchParams.get('version')),
      );
    };
    await withLangfuse(answer, async (baseUrl) => {
      const settings = importSettings();
      const imported = await readLangfuseApi({ baseUrl: `${baseUrl}/`, ...access }, settings);
      const steps = await planImport(imported, emptyWorkspace);
      expect(versionsOf({ steps }, 'support/answer')).toHaveLength(1);
      expect(versionsOf({ steps }, 'support/tone')).toHaveLength(2);
      expect(versionsOf({ steps }, 'Tr-ume-more')).toEqual([
        expect.objectContaining({ template: '{{> support/tone@production }} Tell of {{ topic }}.' }),
      ]);
      expect(await examplesOf({ imported }, 'cases')).toEqual(
        [1, 2, 3].map((id) => ({ id: `i${id}`, variables: { question: `${id}?` } })),
      );
      expect(settings.report.lines.map(formatReportLine)).toContain('dataset cases: taken unchanged');
    });
  });

  test.each([
    [401, 'the keys are refused'],
    [404, 'check the base URL'],
    [302, 'use the base URL that it redirects to'],
  ])('that answers with %i fails in one line', async (status, message) => {
    const answer = (_: URL, __: IncomingMessage, response: ServerResponse) => {
      response.writeHead(status, { Location: 'http://127.0.0.1:1/' }).end('{}');
      return undefined;
    };
    await withLangfuse(answer, async (baseUrl) => {
      await expect(readLangfuseApi({ baseUrl, ...access }, importSettings())).rejects.toThrow(message);
    });
  });

  test.each([
    ['no JSON', '<html>'],
    ['no object', '[]'],
    ['JSON of any depth', `${'['.repeat(100_000)}${']'.repeat(100_000)}`],
  ])('that answers with %s fails in one line', async (_, body) => {
    const answer = (__: URL, ___: IncomingMessage, response: ServerResponse) => {
      response.end(body);
      return undefined;
    };
    await withLangfuse(answer, async (baseUrl) => {
      await expect(readLangfuseApi({ baseUrl, ...access }, importSettings())).rejects.toThrow(
        /v2\/prompts.*(JSON|object|nested)/,
      );
    });
  });

  test('with a bad address says so', async () => {
    await expect(readLangfuseApi({ baseUrl: 'cloud.langfuse.com', ...access }, importSettings())).rejects.toThrow(
      'is not a base URL',
    );
  });
});
