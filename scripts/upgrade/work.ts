import { setTimeout as delay } from 'node:timers/promises';
import { z } from 'zod';
import { behave } from '../../test/support/fault-stage.ts';
import type { ProviderProcess } from '../../test/support/processes-service.ts';
import type { Answer, Balancer } from './balancer.ts';

const MODEL = 'openai/gpt-4o-mini';
const EXAMPLES = 400;
const BATCH_EXAMPLES = 40;
const CALLERS = 6;
/** Prompts with this word are rejected while the processes of their wave are replaced. */
const REFUSED = 'refused';

const Created = z.object({ id: z.string() });
const idOf = ({ text }: Answer) => Created.parse(JSON.parse(text)).id;

/** The work in flight, as reported to its callers. */
export interface InFlight {
  /** The input of the model, by execution id. */
  executions: Map<string, string>;
  evaluations: { id: string; prompts: string[]; mode: 'interactive' | 'batch' }[];
  /** At half the traffic until a person approves. */
  releases: { id: string; prompt: string; isApproved: boolean }[];
  schedule: string;
  /** Requests that were neither accepted nor rejected as expected. */
  surprises: string[];
}

/** Puts work of all kinds in flight through a load balancer. */
export class Work implements InFlight {
  readonly executions = new Map<string, string>();
  readonly evaluations: InFlight['evaluations'] = [];
  readonly releases: InFlight['releases'] = [];
  readonly surprises: string[] = [];
  schedule = '';
  readonly #balancer: Balancer;
  readonly #model: ProviderProcess;
  #number = 0;

  constructor(balancer: Balancer, model: ProviderProcess) {
    this.#balancer = balancer;
    this.#model = model;
  }

  async #post(path: string, body: unknown, headers: Record<string, string> = {}): Promise<Answer> {
    const answer = await this.#balancer.call('POST', path, { body, headers });
    if (answer.status >= 300) this.surprises.push(`POST ${path}: ${answer.status} ${answer.text.slice(0, 300)}`);
    return answer;
  }

  /** Creates prompts, datasets, webhooks and a schedule that is due every minute. @param receivers URLs */
  async seed(receivers: { failing: string; good: string }): Promise<void> {
    await this.#post('/prompts', { name: 'load', template: 'Say {{ text }}', model: MODEL });
    for (const [name, url] of Object.entries(receivers))
      await this.#post('/webhooks', {
        url,
        events: ['execution.completed', 'evaluation.completed'],
        description: name,
      });
    await this.#upload('every-minute', 3);
    const evaluation = { prompt_name: 'load', dataset: 'every-minute', evaluators: [{ type: 'exact_match' }] };
    this.schedule = idOf(await this.#post('/schedules', { name: 'every minute', cron: '* * * * *', evaluation }));
  }

  async #upload(name: string, examples: number): Promise<string[]> {
    const texts = Array.from({ length: examples }, (_, seq) => `${name} ${seq}.`);
    const raw = texts
      .map((text) => JSON.stringify({ variables: { text }, expected: `Answer to: Say ${text}` }))
      .join('\n');
    const answer = await this.#balancer.call('PUT', `/datasets/${name}`, {
      raw,
      headers: { 'Content-Type': 'application/jsonl' },
    });
    if (answer.status >= 300) this.surprises.push(`PUT /datasets/${name}: ${answer.status} ${answer.text}`);
    return texts.map((text) => `Say ${text}`);
  }

  /** Work in flight while processes are replaced, a set for each roll. */
  async wave(name: string): Promise<void> {
    await this.behave(`${name} ${REFUSED}`);
    const [examples, batched] = [
      await this.#upload(name, EXAMPLES),
      await this.#upload(`${name}-batch`, BATCH_EXAMPLES),
    ];
    for (const [dataset, prompts, mode] of [
      [name, examples, 'interactive'],
      [`${name}-batch`, batched, 'batch'],
    ] as const) {
      const evaluators = [{ type: 'exact_match' }];
      const answer = await this.#post('/evaluations', {
        prompt_name: 'load',
        dataset,
        evaluators,
        mode,
        concurrency: 6,
      });
      this.evaluations.push({ id: idOf(answer), prompts, mode });
    }
    for (const [label, steps] of [
      ['held', [{ type: 'canary', percent: 50 }, { type: 'approve', exclude_author: false }, { type: 'promote' }]],
      ['timed', [{ type: 'canary', percent: 50 }, { type: 'wait', for: '40s' }, { type: 'promote' }]],
    ] as const) {
      const prompt = `${name}-${label}`;
      for (const version of [1, 2])
        await this.#post('/prompts', { name: prompt, template: `Version ${version} of {{ text }}`, model: MODEL });
      await this.#balancer.call('PUT', `/prompts/${prompt}/labels/production`, { body: { version: 1 } });
      const body = { prompt_name: prompt, label: 'production', version: 2, steps };
      this.releases.push({ id: idOf(await this.#post('/releases', body)), prompt, isApproved: label === 'timed' });
    }
    await Promise.all(Array.from({ length: 12 }, () => this.execute(`${name} ${REFUSED}`)));
    await Promise.all(Array.from({ length: 40 }, () => this.execute(`${name} queued`)));
  }

  /** @param refused a word in prompts that get a 429 with a wait of 20 s. Default: none are rejected */
  async behave(refused?: string): Promise<void> {
    await behave(this.#model, {
      slowEvery: 8,
      slowMs: 6_000,
      ...(refused !== undefined && { mode: 'fail', status: 429, headers: { 'retry-after': '20' }, matching: refused }),
    });
  }

  /** Runs a unique prompt. @param how default: without waiting for its end */
  async execute(kind: string, how: 'async' | 'sync' | 'stream' = 'async'): Promise<void> {
    const text = `${kind} ${this.#number++}.`;
    const body = { prompt_name: 'load', variables: { text } };
    let id: string | undefined;
    if (how === 'stream') {
      const answer = await this.#balancer.stream(body);
      id = /"id": ?"(exec_[^"]+)"/.exec(answer.text)?.[1];
      if (answer.status !== 201)
        this.surprises.push(`the stream of ${text} ended with ${answer.status} ${answer.text.slice(-300)}`);
    } else {
      const answer = await this.#post('/executions', body, how === 'async' ? { Prefer: 'respond-async' } : {});
      if (answer.status === 201) id = idOf(answer);
    }
    if (id !== undefined) this.executions.set(id, `Say ${text}`);
  }

  /** Starts constant requests. @returns a function that stops them, and waits for those in flight */
  load(): () => Promise<void> {
    let isOver = false;
    const callers = Array.from({ length: CALLERS }, async (_, caller) => {
      for (let turn = caller; !isOver; turn += 1) {
        try {
          if (turn % 4 === 0) await this.execute('load', 'stream');
          else if (turn % 4 === 1) await this.execute('load');
          else if (turn % 4 === 2) await this.execute('load', 'sync');
          else await this.#look(turn);
        } catch {
          // The balancer has recorded it.
        }
        await delay(200);
      }
    });
    return async () => {
      isOver = true;
      await Promise.all(callers);
    };
  }

  /** Reads, and a run through a label with a release. */
  async #look(turn: number): Promise<void> {
    const paths = ['/executions?limit=20', '/usage', '/prompts/load', '/webhooks', '/evaluations?limit=5'];
    const path = paths[turn % paths.length] ?? '/usage';
    const { status, text } = await this.#balancer.call('GET', path);
    if (status !== 200) this.surprises.push(`GET ${path}: ${status} ${text.slice(0, 300)}`);
    const release = this.releases.at(-1);
    if (release === undefined) return;
    const variables = { text: `by label ${this.#number++}` };
    await this.#post(
      '/executions',
      { prompt_name: release.prompt, label: 'production', variables },
      { Prefer: 'respond-async' },
    );
  }

  /** Approves pending releases. */
  async approve(): Promise<void> {
    for (const release of this.releases) {
      if (release.isApproved) continue;
      await this.#post(`/releases/${release.id}/approve`, {});
      release.isApproved = true;
    }
  }
}
