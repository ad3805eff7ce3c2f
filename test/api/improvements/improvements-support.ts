import { examplesOf, hiddenRules, REFLECTOR, taskPrompt, type Ways } from '../../support/hidden-rules.ts';
import { startOpenAiServer } from '../../support/providers/openai.ts';
import { sharedProviders } from '../../support/providers/shared.ts';
import type { StandIn } from '../../support/providers/stand-in.ts';
import { type Answer, startTestService, type TestService } from '../../support/service.ts';
import { waitFor } from '../../support/wait-for.ts';

/** A service with the task of hidden rules. */
export interface ImprovementStage {
  service: TestService;
  openai: StandIn;
  /** Stores a prompt and a dataset for the task. */
  seed(name: string, options: { examples: number; rules: number; from?: number; parameters?: object }): Promise<void>;
  create(name: string, more?: object): Promise<Answer>;
  /** Creates an improvement. @returns its record */
  begin(name: string, more?: object): Promise<Answer['body']>;
  read(id: string): Promise<Answer['body']>;
  until(id: string, ...statuses: string[]): Promise<Answer['body']>;
  candidates(id: string): Promise<Answer['body'][]>;
  /** From now on, reflections do this. */
  reflect(ways?: Ways, seed?: string): void;
  stop(): Promise<void>;
}

export const ENDED = ['completed', 'failed', 'canceled'];

export const DEFAULTS = {
  evaluators: [{ type: 'exact_match' }],
  reflection: { model: REFLECTOR, parameters: { max_tokens: 2_000 } },
  max_cost: 5,
};

/** A model that answers the task and reflects, for services with `providers`. */
export async function startModel(): Promise<Pick<ImprovementStage, 'openai' | 'reflect'>> {
  let answer = hiddenRules();
  const openai = await startOpenAiServer({ answer: (call) => answer(call), on: (await sharedProviders()).openai });
  return {
    openai,
    reflect(ways, seed) {
      answer = hiddenRules({ ...(ways && { ways }), ...(seed !== undefined && { seed }) });
    },
  };
}

/** @param own as for `startTestService` */
export async function startStage(environment = {}, own?: string): Promise<ImprovementStage> {
  const model = await startModel();
  return stageOf(await startTestService(environment, { providers: true, ...(own !== undefined && { own }) }), model);
}

/** The stage of a service that was started after its model. */
export function stageOf(service: TestService, model: Pick<ImprovementStage, 'openai' | 'reflect'>): ImprovementStage {
  const { call } = service;
  const stage: ImprovementStage = {
    ...model,
    service,
    async seed(name, { examples, rules, from, parameters }) {
      const prompt = await call('POST', '/prompts', { body: { ...taskPrompt(name), parameters } });
      const dataset = await call('PUT', `/datasets/${name}`, {
        raw: examplesOf(examples, rules, from)
          .map((example) => JSON.stringify(example))
          .join('\n'),
        headers: { 'Content-Type': 'application/x-ndjson' },
      });
      if (prompt.status !== 201 || dataset.status > 201) throw new Error(JSON.stringify([prompt.body, dataset.body]));
    },
    create: (name, more = {}) =>
      call('POST', '/improvements', { body: { prompt_name: name, dataset: name, ...DEFAULTS, ...more } }),
    async begin(name, more) {
      const { status, body } = await stage.create(name, more);
      if (status !== 201) throw new Error(JSON.stringify(body));
      return body;
    },
    read: async (id) => (await call('GET', `/improvements/${id}`)).body,
    until: (id, ...statuses) =>
      waitFor(`${id} to be ${statuses.join(' or ')}`, async () => {
        const body = await stage.read(id);
        return statuses.includes(body.status) && body;
      }),
    candidates: async (id) => (await call('GET', `/improvements/${id}/candidates`)).body.data,
    async stop() {
      await service.stop();
      await model.openai.close();
    },
  };
  return stage;
}
