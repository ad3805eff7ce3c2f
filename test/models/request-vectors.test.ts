import { readFileSync, writeFileSync } from 'node:fs';
import process from 'node:process';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { LoadedPrompt } from '../../clients/typescript/src/index.ts';
import { ChatMessages } from '../../src/domain/prompts/messages.ts';
import { type AllStandIns, startAllStandIns } from '../support/providers/all.ts';
import { callOf } from '../support/providers/models.ts';

// The service's requests for prompts, which the clients' requests must equal: test/vectors/README.md.

const FILE = new URL('../vectors/requests.json', import.meta.url);

// biome-ignore lint/suspicious/noExplicitAny: the tests assert the shape of vectors
const vectors: any[] = JSON.parse(readFileSync(FILE, 'utf8'));
const isWritten = process.env['WRITE_REQUEST_VECTORS'] === 'true';

let standIns: AllStandIns;
beforeAll(async () => {
  standIns = await startAllStandIns();
});
afterAll(async () => {
  await standIns.close();
  if (isWritten) writeFileSync(FILE, `[\n${vectors.map((vector) => JSON.stringify(vector)).join(',\n')}\n]\n`);
});

test.each(vectors.map((vector) => [vector.title, vector]))('%s', async (_, vector) => {
  const { prompt, variables, fault } = vector;
  const loaded = LoadedPrompt.of(
    { name: 'x', version: 1, template: null, messages: null, inputs: null, ...prompt },
    {},
  );
  const { model, parameters = {}, tools = null, tool_choice: toolChoice = null } = prompt;
  const filled = loaded.compile(variables);
  const input = typeof filled === 'string' ? filled : ChatMessages.parse(filled);
  const call = callOf(model, { input, parameters, tools, toolChoice });
  const sent = standIns.models.generate(call).then(() => standIns.lastCall(model).body);
  if (isWritten) {
    delete vector.request;
    try {
      vector.request = await sent;
      delete vector.fault;
    } catch {
      vector.fault ??= 'unknown';
    }
  } else if (fault === undefined) expect(await sent).toEqual(vector.request);
  else await expect(sent).rejects.toMatchObject({ code: 'model_invalid_request' });
});
