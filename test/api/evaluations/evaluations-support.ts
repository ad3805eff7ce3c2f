import { startOpenAiServer } from '../../support/providers/openai.ts';
import { sharedProviders } from '../../support/providers/shared.ts';
import type { StandIn, StandInOptions } from '../../support/providers/stand-in.ts';
import { type Answer, startTestService, type TestService } from '../../support/service.ts';
import { waitFor } from '../../support/wait-for.ts';

/** A service with a stand-in for OpenAI, and helpers for evaluations. */
export interface EvaluationStage {
  service: TestService;
  openai: StandIn;
  /** Creates the prompt `say`, `Say {{ text }}`, or another one. */
  prompt(name?: string, template?: string, model?: string): Promise<void>;
  create(body: object): Promise<Answer>;
  /** Creates an evaluation. @returns its id */
  begin(body: object): Promise<string>;
  read(id: string): Promise<Answer['body']>;
  /** The record once it has this status. */
  until(id: string, ...statuses: string[]): Promise<Answer['body']>;
  /** Creates an evaluation and waits for its end. */
  run(body: object): Promise<Answer['body']>;
  control(id: string, action: string, body?: object): Promise<Answer>;
  results(id: string, query?: string): Promise<Answer['body']['data']>;
  events(): Promise<{ type: string; data: Record<string, unknown> }[]>;
  stop(): Promise<void>;
}

export const ENDED = ['completed', 'failed', 'canceled'];

/** Inline examples with the texts `NAME 0`, `NAME 1` …; every fourth has an expected value that does not match. */
export function examplesOf(name: string, count: number) {
  return Array.from({ length: count }, (_, index) => ({
    id: `${name}-${index}`,
    variables: { text: `${name} ${index}` },
    expected: index % 4 === 3 ? 'something else' : `Answer to: Say ${name} ${index}`,
  }));
}

/** @param own as for `startTestService` */
export async function startStage(options?: StandInOptions, environment = {}, own?: string): Promise<EvaluationStage> {
  const openai = await startOpenAiServer({ ...options, on: (await sharedProviders()).openai });
  const service = await startTestService(environment, { providers: true, ...(own !== undefined && { own }) });
  const { call } = service;
  const stage: EvaluationStage = {
    service,
    openai,
    async prompt(name = 'say', template = 'Say {{ text }}', model = 'openai/gpt-4o-mini') {
      const { status, body } = await call('POST', '/prompts', { body: { name, template, model } });
      if (status !== 201) throw new Error(JSON.stringify(body));
    },
    create: (body) => call('POST', '/evaluations', { body: { prompt_name: 'say', ...body } }),
    async begin(body) {
      const answer = await stage.create(body);
      if (answer.status !== 201) throw new Error(JSON.stringify(answer.body));
      return answer.body.id;
    },
    read: async (id) => (await call('GET', `/evaluations/${id}`)).body,
    until: (id, ...statuses) =>
      waitFor(`${id} to be ${statuses.join(' or ')}`, async () => {
        const body = await stage.read(id);
        return statuses.includes(body.status) && body;
      }),
    run: async (body) => stage.until(await stage.begin(body), ...ENDED),
    control: (id, action, body) => call('POST', `/evaluations/${id}/${action}`, body === undefined ? {} : { body }),
    results: async (id, query = '') => (await call('GET', `/evaluations/${id}/results${query}`)).body.data,
    events: () =>
      service.dependencies.db.system.query(
        {
          text: `select type, data from events where workspace_id = $1 and type like 'evaluation.%' order by created_at, id`,
        },
        [service.workspaceId],
      ),
    async stop() {
      await service.stop();
      await openai.close();
    },
  };
  await stage.prompt();
  return stage;
}
