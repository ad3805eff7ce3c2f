import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { createMailer, type Mailer } from '../../src/mail/mailer.ts';
import { createOutbound, type Outbound } from '../../src/outbound/outbound.ts';
import { TEST_KEY } from '../support/providers/models.ts';
import { startTestService, type TestService } from '../support/service.ts';

/** Nothing listens there. */
const NOWHERE = 'http://127.0.0.1:9';

let service: TestService;
let outbound: Outbound;
let mailer: Mailer;
beforeAll(async () => {
  const environment = { OPENAI_API_KEY: TEST_KEY, OPENAI_BASE_URL: NOWHERE };
  service = await startTestService(environment, { workers: false });
  outbound = createOutbound({ allowPrivate: 'loopback', timeoutMs: 1_000 });
  mailer = createMailer({ smtpUrl: 'smtp://127.0.0.1:9', from: 'pms@example.com' });
});
afterAll(async () => {
  await service?.stop();
  await outbound?.close();
  mailer?.close();
});

const describeWorkflow = () => service.dependencies.client.workflow.getHandle('none').describe();
const calls: Record<string, () => Promise<unknown>> = {
  'Temporal about a workflow': describeWorkflow,
  'Temporal about a schedule': () => service.dependencies.client.schedule.getHandle('none').describe(),
  'Temporal with a deadline': () => service.dependencies.client.withDeadline(Date.now() + 1_000, describeWorkflow),
  'Temporal about its attributes': () =>
    service.dependencies.client.connection.operatorService.listSearchAttributes({ namespace: 'default' }),
  'a model': () => {
    const call = { workspace: 'ws_test', model: 'openai/gpt-4o-mini', input: 'x', parameters: {}, timeoutMs: 1_000 };
    return service.dependencies.models.generate({ ...call, signal: new AbortController().signal });
  },
  'a receiver': () => outbound.post({ url: NOWHERE, headers: {}, body: Buffer.from('') }),
  'the mail server': () => mailer.send({ to: 'a@example.com', subject: 'x', text: 'x', messageId: '1' }),
};

/** The messages of an error and its causes. */
function messagesOf(error: unknown): string {
  return error instanceof Error ? `${error.message} ${messagesOf(error.cause)}` : '';
}

test.each(Object.keys(calls))('%s is not asked inside a transaction', async (name) => {
  const { db } = service.dependencies;
  const { workspaceId } = db.workspace('00000000-0000-7000-8000-000000000000');
  for (const transaction of [db.system.transaction, db.workspace(workspaceId).transaction]) {
    const refused = await transaction(async () => calls[name]?.().catch((error: unknown) => error));
    expect(messagesOf(refused)).toContain('is called inside a transaction, which must not wait for it.');
  }
});

test('work that outlives its transaction may ask', async () => {
  const ended = Promise.withResolvers<void>();
  const later: Promise<unknown>[] = [];
  await service.dependencies.db.system.transaction(async () => {
    later.push(ended.promise.then(describeWorkflow).catch((error: unknown) => error));
  });
  ended.resolve();
  const [answer] = await Promise.all(later);
  expect(messagesOf(answer)).not.toContain('inside a transaction');
});
