import { expect, test } from '@jest/globals';
import { EVENT_DATA, EVENT_TYPES, type EventType, SAMPLE_DATA } from '../../../src/domain/webhooks/events.ts';
import { startTestService } from '../../support/service.ts';
import { waitFor } from '../../support/wait-for.ts';
import { startRelease, untilStatus } from '../releases/releases-support.ts';
import { newTraceId, send, span } from '../traces/traces-support.ts';

test.each(EVENT_TYPES)('the sample of %s follows its schema', (type) => {
  expect(EVENT_DATA[type].parse(SAMPLE_DATA[type])).toEqual(SAMPLE_DATA[type]);
});

test('the stored data of every type of event follows its schema', async () => {
  const service = await startTestService();
  try {
    const post = async (path: string, body: object) => {
      const answer = await service.call('POST', path, { body });
      expect(answer).toMatchObject({ status: 201 });
      return answer.body;
    };
    // Some are stored only for webhooks that name them.
    await post('/webhooks', { url: 'http://127.0.0.1:65000/', events: [...EVENT_TYPES] });
    await send(service.call, [span({ traceId: newTraceId(), attributes: { 'pms.trace.complete': true } })]);
    await post('/prompts', { name: 'say', template: 'Say hello', model: 'sandbox/echo', commit_message: 'first' });
    await post('/prompts', { name: 'say', template: 'Say {{ text }}', model: 'sandbox/echo' });
    const variables = { text: 'yes' };
    await post('/executions', { prompt_name: 'say', variables });
    await post('/executions', { prompt_name: 'say', variables, model: 'sandbox/fail' });
    await post('/evaluations', { prompt_name: 'say', examples: [{ variables, expected: 'no' }], threshold: 0.5 });

    // One release is approved, moves its label, and is rolled back in its bake step; `say` has two versions.
    await service.call('PUT', '/prompts/say/labels/production', { body: { version: 1 } });
    const { id } = await startRelease(service.call, 'say', [
      { type: 'approve', exclude_author: false },
      { type: 'promote', bake: { for: '1h', checks: [{ metric: 'error_rate', against: 0.5, max_increase: 0 }] } },
    ]);
    await untilStatus(service.call, id, 'awaiting_approval');
    await service.call('POST', `/releases/${id}/approve`);
    await untilStatus(service.call, id, 'baking');
    await service.call('POST', `/releases/${id}/rollback`);

    // One of two runs has failed: a monitor alerts, until it is disabled.
    const checks = [{ metric: 'error_rate', above: 0.1, min_executions: 1, for: '1m' }];
    await service.call('PUT', '/monitors/errors', { body: { window: '1h', checks } });
    await waitFor('the alert', async () => (await service.call('GET', '/monitors/errors')).body.state === 'alerting');
    await service.call('PUT', '/monitors/errors', { body: { window: '1h', checks, enabled: false } });

    // Two searches for a better prompt: one finds nothing, and a run of the other is canceled.
    await service.call('PUT', '/datasets/words', {
      raw: Array.from({ length: 160 }, (_, at) => JSON.stringify({ variables: { text: `${at}` }, expected: 'x' })).join(
        '\n',
      ),
      headers: { 'Content-Type': 'application/x-ndjson' },
    });
    await post('/prompts', { name: 'stalled', template: '{{ text }}', model: 'sandbox/stall' });
    const search = (prompt_name: string) =>
      post('/improvements', {
        prompt_name,
        dataset: 'words',
        evaluators: [{ type: 'contains' }],
        reflection: { model: 'sandbox/echo' },
        max_cost: null,
        max_proposals: 1,
      });
    await search('say');
    const stalled = await search('stalled');
    const run = await waitFor('a run of the search', async () => {
      const { body } = await service.call('GET', `/evaluations?improvement_id=${stalled.id}&status=running`);
      return body.data[0];
    });
    await service.call('POST', `/evaluations/${run.id}/cancel`);

    const stored = await waitFor('an event of every type', async () => {
      const rows = await service.dependencies.db.system.query<{ type: EventType; data: object }>({
        text: `select type, data from events where workspace_id = '${service.workspaceId}'`,
      });
      return new Set(rows.map(({ type }) => type)).size === EVENT_TYPES.length ? rows : undefined;
    });
    // Parsing refuses or drops unknown fields.
    for (const { type, data } of stored) expect([type, EVENT_DATA[type].parse(data)]).toEqual([type, data]);
  } finally {
    await service.stop();
  }
});
