import { randomBytes } from 'node:crypto';
import { Agent, request } from 'undici';
import { modelCall, newSpanId, requestOf, span } from '../test/api/traces/traces-support.ts';
import { answerQuestions } from './child.ts';
import { SpanLoad, type SpanResult } from './load.ts';

const SPANS_OF_TRACE = 16;
const ID = /"traceId":"[0-9a-f]{24}/g;

/** A request; {@link renewed} replaces the ids of its traces. */
function template({ size, textBytes }: SpanLoad): string {
  const text = 'The quick brown fox jumps over the lazy dog, and all. '.repeat(50).slice(0, textBytes);
  const texts = { 'input.value': text, 'output.value': text };
  const messages = (role: string, content: string) => JSON.stringify([{ role, parts: [{ type: 'text', content }] }]);
  const call = modelCall(120, 80, {
    'gen_ai.input.messages': messages('user', text),
    'gen_ai.output.messages': messages('assistant', text),
  });
  let traceId = '';
  let root = '';
  const spans = Array.from({ length: size }, (_, index) => {
    if (index % SPANS_OF_TRACE !== 0)
      return span({
        traceId,
        parent: root,
        name: 'step',
        attributes: index % 3 === 0 ? call : { ...texts, 'gen_ai.tool.name': 'search' },
      });
    traceId = `${'0'.repeat(24)}${index.toString(16).padStart(8, '0')}`;
    root = newSpanId();
    return span({ traceId, id: root, name: 'run', attributes: { ...texts, 'gen_ai.operation.name': 'invoke_agent' } });
  });
  return JSON.stringify(requestOf(spans));
}

const renewed = (body: string) => {
  const id = `"traceId":"${randomBytes(12).toString('hex')}`;
  return body.replaceAll(ID, () => id);
};

async function run(load: SpanLoad): Promise<SpanResult> {
  const agent = new Agent({ connections: load.keys.length });
  const body = template(load);
  const latenciesMs: number[] = [];
  const started = performance.now();
  const exporter = async (key: string) => {
    while (performance.now() - started < load.seconds * 1000) {
      const before = performance.now();
      const { statusCode, body: answer } = await request(`${load.origin}/v1/traces`, {
        method: 'POST',
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
        body: renewed(body),
        dispatcher: agent,
      });
      const text = await answer.text();
      if (statusCode !== 200) throw new Error(`POST /v1/traces answered ${statusCode}: ${text}`);
      latenciesMs.push(performance.now() - before);
    }
  };
  await Promise.all(load.keys.map(exporter));
  const seconds = (performance.now() - started) / 1000;
  await agent.destroy();
  return { spans: latenciesMs.length * load.size, seconds, latenciesMs };
}

answerQuestions(SpanLoad, run);
