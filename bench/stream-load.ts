import { setTimeout as delay } from 'node:timers/promises';
import { Agent, request } from 'undici';
import { z } from 'zod';
import { answerQuestions } from './child.ts';
import { StreamLoad, type StreamResult } from './stream-questions.ts';

const Delta = z.object({ delta: z.string() });

/** Reads one stream to its end. */
async function read({ origin, key }: StreamLoad, agent: Agent, result: StreamResult): Promise<void> {
  const { body, statusCode } = await request(`${origin}/v1/executions`, {
    method: 'POST',
    dispatcher: agent,
    headers: {
      authorization: `Bearer ${key}`,
      'content-type': 'application/json',
      accept: 'text/event-stream',
    },
    body: JSON.stringify({ prompt_name: 'bench', variables: { name: 'Ada' } }),
  });
  if (statusCode !== 201) throw new Error(`A stream answered ${statusCode}: ${await body.text()}`);
  let isFirst = true;
  let rest = '';
  let last = '';
  body.setEncoding('utf8');
  for await (const chunk of body) {
    const now = performance.timeOrigin + performance.now();
    const blocks = `${rest}${chunk}`.split('\n\n');
    rest = blocks.pop() ?? '';
    for (const block of blocks) {
      const [, event = '', data = ''] = /^event: (.*)\ndata: (.*)$/m.exec(block) ?? [];
      last = event === '' ? last : event;
      if (event !== 'output_text.delta') continue;
      const sentAt = Delta.parse(JSON.parse(data)).delta.trim().split(' ').map(Number);
      result.words += sentAt.length;
      const ms = now - (sentAt[0] ?? Number.NaN);
      result.pieceMs.push(ms);
      if (isFirst) result.firstMs.push(ms);
      isFirst = false;
    }
  }
  if (last !== 'execution.completed') throw new Error(`A stream ended with ${last}.`);
}

answerQuestions(StreamLoad, async (load) => {
  const agent = new Agent({ connections: load.streams, headersTimeout: 0, bodyTimeout: 0 });
  const result: StreamResult = { firstMs: [], pieceMs: [], words: 0 };
  await Promise.all(
    Array.from({ length: load.streams }, async (_, index) => {
      await delay((index * load.withinMs) / load.streams);
      await read(load, agent, result);
    }),
  );
  await agent.close();
  return result;
});
