import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { Agent, request } from 'undici';
import { answerQuestions } from './child.ts';
import { Load, type LoadResult } from './load.ts';

/** CPU time of a process's main thread, which runs its event loop. */
const mainThreadMs = (pid: number) => Number(readFileSync(`/proc/${pid}/schedstat`, 'utf8').split(' ')[0]) / 1e6;

async function run(load: Load): Promise<LoadResult> {
  const { url, method, headers, body, callers, count = Infinity, seconds = Infinity, perSecond, cpuOf, expect } = load;
  const agent = new Agent({ connections: callers, headersTimeout: 0, bodyTimeout: 0 });
  const latenciesMs: number[] = [];
  const cpuMs: number[] = [];
  const statuses: Record<string, number> = {};
  let begun = 0;
  const started = performance.now();
  const until = started + seconds * 1000;
  const isOver = () => begun >= count || performance.now() >= until;

  async function send(): Promise<void> {
    begun += 1;
    const before = performance.now();
    const cpuBefore = cpuOf === undefined ? 0 : mainThreadMs(cpuOf);
    const response = await request(
      url.replace('{random}', () => randomBytes(6).toString('base64url')),
      {
        method,
        headers,
        dispatcher: agent,
        ...(body !== undefined && { body }),
      },
    );
    statuses[response.statusCode] = (statuses[response.statusCode] ?? 0) + 1;
    if (expect === undefined) return drain(response, before);
    const text = await response.body.text();
    latenciesMs.push(performance.now() - before);
    if (cpuOf !== undefined) cpuMs.push(mainThreadMs(cpuOf) - cpuBefore);
    if (response.statusCode > 299 || !text.includes(expect))
      throw new Error(`${method} ${url} answered ${response.statusCode}: ${text.slice(0, 1000)}`);
  }

  /** Streams that stay open are abandoned after their first bytes. */
  async function drain(
    { body: answer, headers: { 'content-type': type } }: Awaited<ReturnType<typeof request>>,
    before: number,
  ): Promise<void> {
    if (String(type).startsWith('text/event-stream')) answer.on('error', () => {}).destroy();
    else await answer.dump({ limit: 64 * 1024 * 1024 });
    latenciesMs.push(performance.now() - before);
  }

  async function caller(): Promise<void> {
    while (!isOver()) await send();
  }

  async function inTime(everyMs: number): Promise<void> {
    const sent: Promise<void>[] = [];
    for (let next = started; !isOver(); next += everyMs) {
      await delay(Math.max(0, next - performance.now()));
      sent.push(send());
    }
    await Promise.all(sent);
  }

  await (perSecond === undefined ? Promise.all(Array.from({ length: callers }, caller)) : inTime(1000 / perSecond));
  const took = (performance.now() - started) / 1000;
  await agent.destroy();
  return { requests: latenciesMs.length, seconds: took, latenciesMs, cpuMs, statuses };
}

answerQuestions(Load, run);
