import { readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { pythonWith, run } from '../../scripts/python.ts';
import { startAnthropicServer } from '../support/providers/anthropic.ts';
import { startOpenAiServer } from '../support/providers/openai.ts';
import { answerFitting } from './support.ts';

const client = fileURLToPath(new URL('../../clients/python', import.meta.url));

type Body = Record<string, unknown>;
interface Vector {
  title: string;
  to: 'openai' | 'anthropic';
  prompt: { model: string };
  request?: Body;
  fault?: string;
}
const vectors: Vector[] = JSON.parse(readFileSync(new URL('../vectors/requests.json', import.meta.url), 'utf8'));

/** The output of `tests/frameworks/send.py` for a vector. */
interface Sent {
  title: string;
  run?: { model: string; output: string | null; tokens: { input: number }; metadata: { finish_reason: string } };
  /** The field that can't be sent. */
  fault?: string;
  /** The exception of the framework. */
  error?: string;
}

interface Message {
  role: string;
  content?: unknown;
  tool_calls?: { function: { arguments: string } }[];
}

/** A tool input that is not an object can only be sent as text. */
const hasOddInput = ({ title }: Vector) => title.endsWith("a tool's input that is not an object");

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** Writes the inputs of tools as JSON without spaces. */
function plain(body: Body, change: (message: Message) => Message = (message) => message): Body {
  const { stream, ...sent } = body;
  expect(stream ?? false).toBe(false);
  const messages = (sent['messages'] as Message[]).map((message) => ({
    ...change(message),
    ...(message.tool_calls && {
      tool_calls: message.tool_calls.map((each) => {
        const { arguments: text } = each.function;
        return {
          ...each,
          function: { ...each.function, arguments: isJson(text) ? JSON.stringify(JSON.parse(text)) : text },
        };
      }),
    }),
  }));
  return { ...sent, messages };
}

const asLiteLlmSays = ({ content, ...message }: Message): Message => ({
  ...message,
  role: message.role === 'developer' ? 'system' : message.role,
  ...(content !== null && { content }),
});

const asLlamaIndexSays = ({ content, ...message }: Message): Message => {
  const isTexts = Array.isArray(content) && content.every(({ type }) => type === 'text');
  const role = message.role === 'developer' ? 'system' : message.role;
  return { ...message, role, content: isTexts ? content.map(({ text }) => text).join('') : content };
};

const UNKNOWN_TO_LLAMA_INDEX = new Set(['openai/gpt-9', 'openai/gpt-5.6', 'openai/gpt-4o-search-preview']);

interface Framework {
  requirements: string;
  isTaken: (vector: Vector) => boolean;
  /** The invalid field, if it can't send what the service sends. */
  faultOf?: (vector: Vector) => string | undefined;
  change?: (message: Message) => Message;
  /** How many vectors are at least sent. */
  least: number;
}

const FRAMEWORKS: Record<string, Framework> = {
  langchain: {
    requirements: 'requirements-frameworks.txt',
    // It does not support reasoning, or cache marks on tool calls.
    isTaken: ({ title }) => !/^openai-compatible.*names, reasoning|^(openai-comp|anth).*marks of caches/.test(title),
    faultOf: (vector) => (hasOddInput(vector) ? 'messages.1' : undefined),
    least: 300,
  },
  litellm: {
    requirements: 'requirements-frameworks.txt',
    // It does not know that these models support an effort.
    isTaken: ({ title }) => !/^anthropic\/claude-next: reasoning_effort|^anthropic: provider_options/.test(title),
    change: asLiteLlmSays,
    least: 300,
  },
  llama_index: {
    requirements: 'requirements-llama-index.txt',
    isTaken: ({ title, to, prompt: { model } }) =>
      to === 'openai' &&
      !title.includes('audio/') &&
      // It does not support the name of a message.
      !title.includes('names, reasoning') &&
      model.startsWith('openai/') &&
      !UNKNOWN_TO_LLAMA_INDEX.has(model),
    change: asLlamaIndexSays,
    least: 70,
  },
};

describe.each(Object.entries(FRAMEWORKS))('%s', (name, { requirements, isTaken, faultOf, change, least }) => {
  const sent = new Map<string, { line: Sent; body: Body | undefined }>();
  beforeAll(async () => {
    const python = await pythonWith(path.join(client, requirements), [3, 11]);
    const openai = await startOpenAiServer({ answer: ({ body }) => answerFitting(body) });
    const anthropic = await startAnthropicServer({ answer: ({ body }) => answerFitting(body) });
    try {
      const { output, code } = await run(python, ['tests/frameworks/send.py', name], {
        cwd: client,
        env: {
          PYTHONPATH: 'src',
          PYTHONDONTWRITEBYTECODE: '1',
          OPENAI_URL: openai.baseUrl,
          ANTHROPIC_URL: anthropic.baseUrl,
          // Nothing is fetched.
          LITELLM_LOCAL_MODEL_COST_MAP: 'True',
        },
      });
      if (code !== 0) throw new Error(output);
      const calls = { openai: openai.calls.values(), anthropic: anthropic.calls.values() };
      for (const vector of vectors) {
        const text = output.split('\n').find((each) => each.startsWith(`{"title": ${JSON.stringify(vector.title)},`));
        const line: Sent = JSON.parse(text ?? 'null') ?? { title: vector.title, error: 'it says nothing' };
        // Each one with a run has made a call, in order.
        const body = line.run === undefined ? undefined : calls[vector.to].next().value?.body;
        sent.set(vector.title, { line, body });
      }
    } finally {
      await Promise.all([openai.close(), anthropic.close()]);
    }
  });

  test.each(vectors.filter(isTaken).map((vector): [string, Vector] => [vector.title, vector]))(
    '%s',
    (title, vector) => {
      const { line, body } = sent.get(title) ?? {};
      const fault = vector.fault ?? faultOf?.(vector);
      if (fault !== undefined) {
        expect(line).toEqual({ title, fault });
        return;
      }
      expect(line?.error).toBeUndefined();
      expect(plain(body ?? {}, change)).toEqual(plain(vector.request ?? {}, change));
      const { model } = vector.prompt;
      expect(line?.run?.model).toBe(model.includes('/') ? model : expect.stringContaining(model));
      expect(typeof line?.run?.tokens.input).toBe('number');
      expect(['stop', 'tool_calls']).toContain(line?.run?.metadata.finish_reason);
    },
  );

  test('most of them are sent', () => {
    expect([...sent.values()].filter(({ body }) => body !== undefined).length).toBeGreaterThan(least);
  });
});
