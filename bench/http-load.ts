import { Agent, request } from 'undici';
import { answerQuestions } from './child.ts';
import { Load, type LoadResult } from './load.ts';

async function run(load: Load): Promise<LoadResult> {
  const { url, method, headers, body, callers, count = Infinity, seconds = Infinity, expect } = load;
  const agent = new Agent({ connections: callers, headersTimeout: 0, bodyTimeout: 0 });
  const latenciesMs: number[] = [];
  let begun = 0;
  const started = performance.now();
  const until = started + seconds * 1000;

  async function caller(): Promise<void> {
    while (begun < count && performance.now() < until) {
      begun += 1;
      const before = performance.now();
      const response = await request(url, { method, headers, dispatcher: agent, ...(body !== undefined && { body }) });
      const text = await response.body.text();
      latenciesMs.push(performance.now() - before);
      if (response.statusCode > 299 || !text.includes(expect))
        throw new Error(`${method} ${url} answered ${response.statusCode}: ${text.slice(0, 1000)}`);
    }
  }

  await Promise.all(Array.from({ length: callers }, caller));
  const took = (performance.now() - started) / 1000;
  await agent.close();
  return { requests: latenciesMs.length, seconds: took, latenciesMs };
}

answerQuestions(Load, run);
