import { startOpenAiServer } from '../../support/providers/openai.ts';
import { sharedProviders } from '../../support/providers/shared.ts';
import type { StandIn, StandInOptions } from '../../support/providers/stand-in.ts';
import { type Answer, startTestService, type TestService } from '../../support/service.ts';
import { waitFor } from '../../support/wait-for.ts';

/** A score as the database has it. */
export interface StoredScore {
  id: string;
  name: string;
  number: number;
  execution_id: string;
  rule: string;
  evaluator_version: string;
  evaluator_model: string | null;
  comment: string | null;
  prompt_name: string;
}

/** A service with a stand-in for OpenAI, and helpers for rules. */
export interface RuleStage {
  service: TestService;
  openai: StandIn;
  /** Creates a prompt with this name: `NAME: {{ text }}`. */
  prompt(name: string): Promise<void>;
  put(name: string, rule: object): Promise<Answer>;
  rule(name: string): Promise<Answer['body']>;
  /** The record once it satisfies the condition. */
  untilRule(name: string, looks: (rule: Answer['body']) => boolean): Promise<Answer['body']>;
  /** Runs a prompt several times. @returns UUIDs of the executions */
  run(promptName: string, count: number, body?: object): Promise<string[]>;
  scores(rule: string): Promise<StoredScore[]>;
  backfill(rule: string, body?: object): Promise<Answer['body']>;
  untilBackfill(rule: string, id: string, ...statuses: string[]): Promise<Answer['body']>;
  stop(): Promise<void>;
}

const LONG_AGO = '2020-01-01T00:00:00Z';

export async function startRuleStage(options?: StandInOptions, environment = {}): Promise<RuleStage> {
  const openai = await startOpenAiServer({ ...options, on: (await sharedProviders()).openai });
  const service = await startTestService(environment, { providers: true });
  const { call } = service;
  const succeed = ({ status, body }: Answer) => {
    if (status >= 300) throw new Error(JSON.stringify(body));
    return body;
  };
  const stage: RuleStage = {
    service,
    openai,
    async prompt(name) {
      const body = { name, template: `${name}: {{ text }}`, model: 'openai/gpt-4o-mini' };
      succeed(await call('POST', '/prompts', { body }));
    },
    put: (name, body) => call('PUT', `/rules/${name}`, { body }),
    rule: async (name) => (await call('GET', `/rules/${name}`)).body,
    untilRule: (name, looks) =>
      waitFor(`the rule ${name} to look so`, async () => {
        const rule = await stage.rule(name);
        return looks(rule) && rule;
      }),
    async run(promptName, count, body = {}) {
      const ids: string[] = [];
      for (let from = 0; from < count; from += 20)
        ids.push(
          ...(await Promise.all(
            Array.from({ length: Math.min(20, count - from) }, async (_, index) => {
              const request = { prompt_name: promptName, variables: { text: String(from + index) }, ...body };
              return succeed(await call('POST', '/executions', { body: request })).id.replace('exec_', '');
            }),
          )),
        );
      return ids;
    },
    scores: (rule) =>
      service.dependencies.db.system.query<StoredScore>(
        {
          text: `select id, name, number, execution_id, rule, evaluator_version, evaluator_model, comment, prompt_name
                 from scores where workspace_id = $1 and rule = $2 and source = 'evaluator' order by execution_id, name`,
        },
        [service.workspaceId, rule],
      ),
    backfill: async (rule, body = {}) =>
      succeed(await call('POST', `/rules/${rule}/backfill`, { body: { since: LONG_AGO, ...body } })),
    untilBackfill: (rule, id, ...statuses) =>
      waitFor(`the backfill to be ${statuses.join(' or ')}`, async () => {
        const { body } = await call('GET', `/rules/${rule}/backfills/${id}`);
        return statuses.includes(body.status) && body;
      }),
    async stop() {
      await service.stop();
      await openai.close();
    },
  };
  return stage;
}
