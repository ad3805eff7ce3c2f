import { readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { createParser, type EventSourceMessage } from 'eventsource-parser';
import { Webhook } from 'standardwebhooks';
import { z } from 'zod';
import { contentFaults } from '../src/domain/prompts/content-faults.ts';
import { includesOf, parsePrompt, TemplateVariablesError } from '../src/domain/prompts/prompt.ts';
import { type IncludeSet, Inputs, type PromptContent, PromptMessages } from '../src/domain/prompts/prompt-content.ts';
import { armOf, bucketOf } from '../src/domain/releases/rollout.ts';
import type { JsonValue } from '../src/domain/text/json.ts';
import { signedHeaders, xSignature } from '../src/domain/webhooks/webhook-signature.ts';
import { EvaluatorConfig, prepareEvaluator } from '../src/evaluators/registry.ts';
import { serverSentEvent } from '../src/http/event-stream.ts';
import { decodeCursor, encodeCursor } from '../src/http/pagination.ts';

/** The vectors that the clients must pass, too: `test/vectors/README.md` explains them. */
function vectorsOf<T>(name: string): T {
  return JSON.parse(readFileSync(new URL(`./vectors/${name}.json`, import.meta.url), 'utf8'));
}

/** Vectors with their titles, which `%s` shows. */
const titled = <T extends { title: string }>(vectors: readonly T[]): [string, T][] =>
  vectors.map((vector) => [vector.title, vector]);

interface PromptVector {
  title: string;
  prompt: Partial<PromptContent>;
  includes?: IncludeSet;
  variables: Record<string, JsonValue>;
  names?: string[];
  refs?: string[];
  input?: unknown;
  faults?: string[];
}

function faultsOf(fill: () => unknown): string[] {
  try {
    fill();
  } catch (error) {
    if (error instanceof TemplateVariablesError) return error.details.map(({ path }) => path);
    throw error;
  }
  return [];
}

describe.each(['templates', 'values', 'messages', 'includes'])('%s', (name) => {
  test.each(titled(vectorsOf<PromptVector[]>(name)))('%s', (_, vector) => {
    const { includes = {}, variables, names, refs, input, faults } = vector;
    const content: PromptContent = {
      template: null,
      messages: null,
      tools: null,
      tool_choice: null,
      inputs: null,
      ...vector.prompt,
    };
    // A prompt that can't be stored would show nothing.
    expect(PromptMessages.nullable().parse(content.messages)).toEqual(content.messages);
    expect(Inputs.nullable().parse(content.inputs)).toEqual(content.inputs);
    expect(contentFaults(content)).toEqual([]);

    const prompt = parsePrompt(content, includes);
    if (names !== undefined) expect(prompt.names).toEqual(names);
    if (refs !== undefined) expect(includesOf(content)).toEqual(refs);
    if (faults !== undefined) {
      expect(faultsOf(() => prompt.fill(variables))).toEqual(faults);
      expect(prompt.faults(variables).map(({ path }) => path)).toEqual(faults);
    } else {
      expect(prompt.fill(variables)).toEqual(input);
      expect(prompt.faults(variables)).toEqual([]);
    }
  });
});

describe('signatures', () => {
  interface Sent {
    title: string;
    body: string;
    event_id: string;
    delivery_id: string;
    attempt: number;
    sent_at: number;
    secrets: [string, string?];
    headers: Record<string, string>;
  }
  interface Received {
    title: string;
    body: string;
    headers: Record<string, string>;
    secret: string;
    now: number;
    verified: boolean;
    x_signature: boolean;
  }
  const { sent, received } = vectorsOf<{ sent: Sent[]; received: Received[] }>('signatures');
  const MAX_AGE_SECONDS = 300;

  test.each(titled(sent))('sent: %s', (_, vector) => {
    expect(
      signedHeaders({
        body: Buffer.from(vector.body),
        eventId: vector.event_id,
        deliveryId: vector.delivery_id,
        attempt: vector.attempt,
        sentAt: new Date(vector.sent_at * 1000),
        secrets: vector.secrets,
      }),
    ).toEqual(vector.headers);
  });

  test.each(titled(received))('received: %s', (_, { body, secret, now, verified, x_signature, ...vector }) => {
    const headers = new Headers(vector.headers);
    const bytes = Buffer.from(body);
    const timestamp = headers.get('webhook-timestamp') ?? '';
    // What the service would have sent with this body, secret, id and time.
    const expected = signedHeaders({
      body: bytes,
      eventId: headers.get('webhook-id') ?? '',
      deliveryId: '',
      attempt: 1,
      sentAt: new Date((/^\d{1,12}$/.test(timestamp) ? Number(timestamp) : 0) * 1000),
      secrets: [secret],
    });
    const isSigned = (headers.get('webhook-signature') ?? '').split(' ').includes(expected['webhook-signature'] ?? '');
    const isOfThen = expected['webhook-timestamp'] === timestamp;
    const isRecent = Math.abs(now - Number(timestamp)) <= MAX_AGE_SECONDS;
    expect(isSigned && isOfThen && isRecent).toBe(verified);

    const xSignatures = ['x-signature', 'x-signature-previous'].map((name) => headers.get(name));
    expect(xSignatures.includes(xSignature(bytes, secret))).toBe(x_signature);
  });

  test('accepted signatures are those of the library for Standard Webhooks', () => {
    // It accepts unpadded base64 as base64; the service treats it as text, like most other libraries.
    const accepted = received.filter(({ title, verified }) => verified && !title.includes('without its padding'));
    expect(accepted.length).toBeGreaterThan(5);
    for (const { body, secret, ...vector } of accepted) {
      const headers = new Headers(vector.headers);
      const webhook = new Webhook(secret, secret.startsWith('a-') ? { format: 'raw' } : undefined);
      const sentAt = new Date(Number(headers.get('webhook-timestamp')) * 1000);
      const signature = webhook.sign(headers.get('webhook-id') ?? '', sentAt, body);
      expect(headers.get('webhook-signature')?.split(' ')).toContain(signature);
    }
  });
});

describe('cursors', () => {
  const { positions, refused, lists } = vectorsOf<{
    positions: { position: string; cursor: string }[];
    refused: string[];
    lists: {
      query: Record<string, string>;
      pages: { data: unknown[]; next_cursor: string | null }[];
      requests: Record<string, string>[];
      items: unknown[];
    }[];
  }>('cursors');

  test.each(positions.map(({ position, cursor }) => [position, cursor]))('%j', (position, cursor) => {
    expect(encodeCursor(position)).toBe(cursor);
    expect(decodeCursor(cursor, z.string())).toBe(position);
  });

  test.each(refused)('%j is refused', (cursor) => {
    expect(() => decodeCursor(cursor, z.string())).toThrow('cursor: is not a cursor of this list');
  });

  test('the requests for lists are those of the pages', () => {
    for (const { query, pages, requests, items } of lists) {
      expect(pages.flatMap(({ data }) => data)).toEqual(items);
      const cursors = pages.map(({ next_cursor }) => next_cursor);
      expect(cursors.at(-1)).toBeNull();
      expect(requests).toEqual([query, ...cursors.slice(0, -1).map((cursor) => ({ ...query, cursor }))]);
    }
  });
});

describe('event streams', () => {
  interface StreamVector {
    title: string;
    chunks: string[];
    events: { id: string; event: string; data: { type: string; delta?: string } }[];
    last_id: string;
    text: string;
    is_complete: boolean;
  }
  const vectors = vectorsOf<StreamVector[]>('event-streams');

  test('the first is what the service writes', () => {
    const [first] = vectors;
    expect(first?.events.map(serverSentEvent).join('')).toBe(first?.chunks.join(''));
  });

  test.each(titled(vectors))('%s', (_, { chunks, events, last_id, text, is_complete }) => {
    const messages: EventSourceMessage[] = [];
    const parser = createParser({ onEvent: (message) => messages.push(message) });
    for (const chunk of chunks) parser.feed(chunk);
    expect(messages.map(({ id, event, data }) => ({ id, event, data: JSON.parse(data) }))).toEqual(events);
    expect(messages.at(-1)?.id).toBe(last_id);
    let received = '';
    for (const { event, data } of events) {
      if (event === 'execution.restarted') received = '';
      if (event === 'output_text.delta') received += data.delta;
    }
    expect(received).toBe(text);
    expect(/^execution\.(completed|failed|canceled)$/.test(messages.at(-1)?.event ?? '')).toBe(is_complete);
  });
});

interface RolloutVectors {
  decisions: { title: string; salt: string; key: string; percent: number; bucket: number; arm: string }[];
  shares: { salt: string; percent: number; keys: number; candidates: number }[];
}

describe('rollouts', () => {
  const { decisions, shares } = vectorsOf<RolloutVectors>('rollouts');
  test.each(titled(decisions))('%s', (_, { salt, key, percent, bucket, arm }) => {
    expect([bucketOf(salt, key), armOf({ salt, percent }, key)]).toEqual([bucket, arm]);
  });

  test.each(shares)('$percent % of $keys keys', ({ salt, percent, keys, candidates }) => {
    const all = Array.from({ length: keys }, (_, n) => `user-${n}`);
    const found = all.filter((key) => armOf({ salt, percent }, key) === 'candidate');
    expect(found).toHaveLength(candidates);
    expect(Math.abs((100 * candidates) / keys - percent)).toBeLessThan(0.5);
    // Raising the share takes the candidate from no key.
    const more = { salt, percent: Math.min(100, percent + 10) };
    expect(found.filter((key) => armOf(more, key) !== 'candidate')).toEqual([]);
  });
});

interface ScoreVector {
  title: string;
  score: string;
  output: string;
  expected?: JsonValue;
  value: number;
}

describe('scores', () => {
  test.each(titled(vectorsOf<ScoreVector[]>('scores')))('%s', (_, { score: type, output, expected, value }) => {
    const evaluator = prepareEvaluator(EvaluatorConfig.parse({ type }));
    if (evaluator.kind !== 'scoring') throw new Error(`${type} asks somebody`);
    expect(evaluator.score({ output, expected }).score).toBe(value);
  });
});
