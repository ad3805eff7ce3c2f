import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { startAnthropicServer } from '../../support/providers/anthropic.ts';
import { startGoogleServer } from '../../support/providers/google.ts';
import { startOpenAiServer } from '../../support/providers/openai.ts';
import type { RecordedCall } from '../../support/providers/protocol.ts';
import { sharedProviders } from '../../support/providers/shared.ts';
import type { StandIn } from '../../support/providers/stand-in.ts';
import { startTestService, type TestService } from '../../support/service.ts';

const TOOL = {
  name: 'weather',
  description: 'The weather of a city.',
  input_schema: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
};
const RESULT = { celsius: 21 };

/** Requests the tool until a request contains its result. */
const answer = ({ body }: RecordedCall) =>
  JSON.stringify(body).includes('celsius')
    ? { text: 'It is 21 °C.' }
    : { text: '', toolCalls: [{ id: 'call_1', name: 'weather', input: { city: 'Oslo' } }] };

let providers: Record<'openai' | 'anthropic' | 'google', StandIn>;
let service: TestService;
beforeAll(async () => {
  const shared = await sharedProviders();
  providers = {
    openai: await startOpenAiServer({ answer, on: shared.openai }),
    anthropic: await startAnthropicServer({ answer, on: shared.anthropic }),
    google: await startGoogleServer({ answer, on: shared.google }),
  };
  service = await startTestService({}, { providers: true });
});
afterAll(async () => {
  await service?.stop();
  for (const provider of Object.values(providers ?? {})) await provider.close();
});

describe.each(['openai/gpt-4o', 'openai-compatible/m', 'anthropic/claude-sonnet-4-5', 'google/gemini-2.5-flash'])(
  '%s',
  (model) => {
    test('calls a tool, and gets its result in the placeholder of the next run', async () => {
      const name = `tools/${model.split('/')[0]}`;
      const created = await service.call('POST', '/prompts', {
        body: {
          name,
          model,
          messages: [
            { role: 'system', content: 'You know the weather.' },
            { role: 'user', content: 'How warm is it in {{ city }}?' },
            { placeholder: 'history', required: false },
          ],
          tools: [TOOL],
        },
      });
      expect(created.status).toBe(201);

      const first = await service.call('POST', '/executions', {
        body: { prompt_name: name, variables: { city: 'Oslo' } },
      });
      expect(first.body).toMatchObject({ status: 'completed', output: '', finish_reason: 'tool_calls', tools: [TOOL] });
      const [toolCall] = first.body.tool_calls;
      expect(first.body.tool_calls).toEqual([
        { id: expect.stringMatching(/./), name: 'weather', input: { city: 'Oslo' } },
      ]);

      const history = [
        { role: 'assistant', content: [{ type: 'tool_call', ...toolCall }] },
        { role: 'tool', content: [{ type: 'tool_result', id: toolCall.id, name: 'weather', output: RESULT }] },
      ];
      const second = await service.call('POST', '/executions', {
        body: { prompt_name: name, variables: { city: 'Oslo', history } },
      });
      expect(second.body).toMatchObject({ status: 'completed', output: 'It is 21 °C.', tool_calls: [] });
      expect(second.body.input.slice(2)).toEqual(history);
    });
  },
);
