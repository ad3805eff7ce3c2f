import { readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { BUILT_IN } from '../../clients/typescript/src/evaluate/built-in-scores.ts';
import {
  type Api,
  LoadedPrompt,
  Pms,
  type StreamEvent,
  VariablesError,
  webhooks,
} from '../../clients/typescript/src/index.ts';
import { isCandidate } from '../../clients/typescript/src/prompts/rollout.ts';

// The same vectors that the service passes in test/vectors.test.ts; test/vectors/README.md explains them.

// biome-ignore lint/suspicious/noExplicitAny: the tests assert the shape of vectors
const read = (name: string): any =>
  JSON.parse(readFileSync(new URL(`../vectors/${name}.json`, import.meta.url), 'utf8'));

/** A client whose requests get these responses in order. */
function clientOf(responses: (() => Response)[]): { pms: Pms; requests: Request[] } {
  const requests: Request[] = [];
  const waiting = responses.values();
  const pms = new Pms({
    baseUrl: 'http://service.test',
    apiKey: 'pms_x',
    maxRetries: 0,
    async fetch(url, init) {
      requests.push(new Request(url, init));
      const next = waiting.next();
      if (next.done) throw new TypeError('there is no other response');
      return next.value();
    },
  });
  return { pms, requests };
}

const json = (value: unknown) => () => Response.json(value);

describe.each(['templates', 'values', 'messages', 'includes'])('%s', (file) => {
  test.each<[string, Record<string, unknown>]>(read(file).map((vector: { title: string }) => [vector.title, vector]))(
    '%s',
    (_, { prompt, includes = {}, variables, names, input, faults }) => {
      const data = {
        name: 'x',
        version: 1,
        template: null,
        messages: null,
        inputs: null,
        ...Object(prompt),
      } as Api.Prompt;
      const loaded = LoadedPrompt.of(data, includes as LoadedPrompt['includes']);
      if (names !== undefined) expect(loaded.variables).toEqual(names);
      const compile = () => loaded.compile(variables as Parameters<typeof loaded.compile>[0]);
      if (faults === undefined) {
        expect(compile()).toEqual(input);
        return;
      }
      let details: readonly { path: string }[] = [];
      try {
        compile();
      } catch (error) {
        if (!(error instanceof VariablesError)) throw error;
        details = error.details;
      }
      expect(details.map(({ path }) => path)).toEqual(faults);
    },
  );
});

describe('signatures', () => {
  test.each<
    [string, { body: string; headers: Record<string, string>; secret: string; now: number; verified: boolean }]
  >(read('signatures').received.map((vector: { title: string }) => [vector.title, vector]))(
    '%s',
    async (_, { body, headers, secret, now, verified }) => {
      const verify = (given: string | Uint8Array) =>
        webhooks.verify({ body: given, headers, secret, now: new Date(now * 1000) });
      for (const given of [body, Buffer.from(body)]) {
        if (verified) expect(await verify(given)).toEqual(JSON.parse(body));
        else await expect(verify(given)).rejects.toMatchObject({ code: 'invalid_signature' });
      }
    },
  );
});

describe('lists', () => {
  test.each<[string, { query: object; pages: object[]; requests: object[]; items: unknown[] }]>(
    read('cursors').lists.map((vector: { title: string }) => [vector.title, vector]),
  )('%s', async (_, { query, pages, requests: expected, items }) => {
    const { pms, requests } = clientOf(pages.map(json));
    const got: unknown[] = [];
    for await (const item of pms.list('listPrompts', { query })) got.push(item);
    expect(got).toEqual(items);
    const sent = requests.map(({ url }) => Object.fromEntries(new URL(url).searchParams));
    const asText = (value: object) =>
      Object.fromEntries(Object.entries(value).map(([name, each]) => [name, String(each)]));
    expect(sent).toEqual(expected.map(asText));
  });
});

describe('streams', () => {
  interface StreamVector {
    chunks: string[];
    events: { data: unknown }[];
    last_id: string | null;
    is_complete: boolean;
    text: string;
  }
  test.each<[string, StreamVector]>(read('event-streams').map((vector: { title: string }) => [vector.title, vector]))(
    '%s',
    async (_, { chunks, events, last_id: lastId, is_complete: isComplete, text }) => {
      const body = () => new Response(ReadableStream.from(chunks.map((chunk) => new TextEncoder().encode(chunk))));
      const { pms, requests } = clientOf([body]);
      const got: StreamEvent[] = [];
      let said = '';
      const reading = (async () => {
        for await (const event of pms.streamOf('exec_1', { maxReconnects: 1 })) {
          got.push(event);
          if (event.type === 'execution.restarted') said = '';
          if (event.type === 'output_text.delta') said += event.delta;
        }
      })();
      if (isComplete) await reading;
      else await expect(reading).rejects.toMatchObject({ code: 'connection_failed' });
      expect(got).toEqual(events.map(({ data }) => data));
      expect(said).toBe(text);
      if (!isComplete) expect(requests[1]?.headers.get('Last-Event-ID')).toBe(lastId);
      expect(requests).toHaveLength(isComplete ? 1 : 2);
    },
  );
});

describe('rollouts', () => {
  const { decisions, shares } = read('rollouts');
  test.each<{ title: string; salt: string; key: string; percent: number; arm: string }>(decisions)(
    '$title',
    async ({ key, arm, ...release }) => {
      expect(await isCandidate(release, key)).toBe(arm === 'candidate');
    },
  );

  // One share of each salt: the bucket of a key is the same for every share.
  test.each<{ salt: string; percent: number; keys: number; candidates: number }>(
    shares.filter(({ percent }: { percent: number }) => percent === 25),
  )('$percent % of $keys keys', async ({ keys, candidates, ...release }) => {
    const found = await Promise.all(Array.from({ length: keys }, (_, n) => isCandidate(release, `user-${n}`)));
    expect(found.filter(Boolean)).toHaveLength(candidates);
  });
});

describe('scores', () => {
  test.each<[string, { score: keyof typeof BUILT_IN; output: string; value: number; expected?: unknown }]>(
    read('scores').map((vector: { title: string }) => [vector.title, vector]),
  )('%s', (_, { score, output, value, ...expected }) => {
    const example = { seq: 0, example_id: 'x', variables: {}, ...expected };
    expect(BUILT_IN[score](output, example).score).toBe(value);
  });
});
