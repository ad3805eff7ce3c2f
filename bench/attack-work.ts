import { readFileSync } from 'node:fs';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { getPriority, setPriority } from 'node:os';
import { fileURLToPath } from 'node:url';
import { type Call, createCall } from '../test/support/service.ts';
import { callOk } from './attack-calls.ts';
import { startHelper } from './child.ts';
import { type Load, LoadResult } from './load.ts';
import { type Row, row } from './report.ts';
import type { Service } from './service.ts';
import { quantile } from './statistics.ts';

const SECONDS = 15;
const LEAD_MS = 2_000;
const CALLERS = 50;
const READS_PER_SECOND = 20;
const RULES = 100;
const PATTERNS = 10;
const AT_MOST_MS = 300;
const FILE_BYTES = 4 * 1024 * 1024;

/** Patterns that are slow for this output, and that no time limit stops. */
const evaluators = Array.from({ length: PATTERNS }, (_, n) => ({
  type: 'regex',
  name: `pattern-${n}`,
  pattern: `(a|b|ab)*c${n}$`,
}));

/** For a server at localhost, issued by an authority that the service should trust: {@link AUTHORITY}. */
const certificate = (name: string) =>
  readFileSync(new URL(`../test/outbound/certificates/${name}`, import.meta.url), 'utf8');
export const AUTHORITY = fileURLToPath(new URL('../test/outbound/certificates/ca.pem', import.meta.url));

/** Work that workers do for one workspace, in the process that serves reads of another. */
export async function attackByWork(
  service: Service,
  neighbour: string,
  report: (line: string) => void,
): Promise<Row[]> {
  const call = createCall(service.origin, service.key);
  const bytes = Buffer.alloc(FILE_BYTES, 1);
  const files = createServer({ cert: certificate('good.pem'), key: certificate('good.key') }, (_request, response) => {
    response.writeHead(200, { 'content-type': 'application/pdf', 'content-length': bytes.length }).end(bytes);
  });
  await new Promise<void>((resolve) => files.listen(0, '127.0.0.1', resolve));
  const { port } = files.address() as AddressInfo;
  const [attacker, reader] = [await startHelper('http-load.ts'), await startHelper('http-load.ts')];
  setPriority(attacker.pid, Math.min(19, getPriority() + 5));
  const prompt = { template: '{{ text }}', model: 'sandbox/echo' };
  const auth = (key: string) => ({ authorization: `Bearer ${key}`, 'content-type': 'application/json' });
  try {
    const theirs = createCall(service.origin, neighbour);
    await callOk(theirs('POST', '/prompts', { body: { name: 'greeting', ...prompt } }));
    const read: Load = {
      url: `${service.origin}/v1/prompts/greeting`,
      method: 'GET',
      headers: auth(neighbour),
      callers: 50,
      perSecond: READS_PER_SECOND,
      cpuOf: service.pid,
      expect: '"greeting"',
    };
    const readsWhile = async (what: string, body?: object): Promise<Row> => {
      const attack: Load = {
        url: `${service.origin}/v1/executions`,
        method: 'POST',
        headers: { ...auth(service.key), prefer: 'respond-async' },
        body: JSON.stringify(body),
        callers: CALLERS,
      };
      const attacking = body && attacker.ask({ ...attack, seconds: SECONDS + LEAD_MS / 1000 }, LoadResult);
      attacking?.catch(() => {});
      await new Promise((resolve) => setTimeout(resolve, LEAD_MS));
      const { latenciesMs, cpuMs = [] } = await reader.ask({ ...read, seconds: SECONDS }, LoadResult);
      const sent = await attacking;
      const times = [quantile(latenciesMs, 0.5), quantile(latenciesMs, 0.99), quantile(cpuMs, 0.99)].map((ms) =>
        ms.toFixed(0),
      );
      report(
        `${what}: p50 ${times[0]} ms, p99 ${times[1]} ms, CPU time of the service until then ${times[2]} ms (${sent?.requests ?? 0} requests)`,
      );
      return row(`11: p99 of a neighbour's reads, ${what}`, 'ms', [quantile(latenciesMs, 0.99)], { below: AT_MOST_MS });
    };
    const rows = [await readsWhile('alone')];
    await callOk(call('POST', '/prompts', { body: { name: 'ruled', ...prompt } }));
    await makeRules(call);
    const text = 'ab'.repeat(5_000);
    rows.push(
      await readsWhile(`while ${RULES} rules of ${PATTERNS} patterns score`, {
        prompt_name: 'ruled',
        variables: { text },
      }),
    );
    for (let n = 0; n < RULES; n += 1) await call('DELETE', `/rules/rule-${n}`);
    const file = { type: 'file', media_type: 'application/pdf', url: `https://localhost:${port}/file.pdf` };
    const messages = [{ role: 'user', content: [file] }];
    rows.push(
      await readsWhile('while calls fetch files by URL', {
        draft: { messages, model: 'openai/gpt-4o' },
        variables: {},
      }),
    );
    return rows;
  } finally {
    files.close();
    await attacker.stop();
    await reader.stop();
  }
}

async function makeRules(call: Call): Promise<void> {
  for (let n = 0; n < RULES; n += 1)
    await callOk(call('PUT', `/rules/rule-${n}`, { body: { prompt_name: 'ruled', evaluators } }));
}
