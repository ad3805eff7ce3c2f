import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { startTestService, type TestService } from '../../support/service.ts';

let service: TestService;
beforeAll(async () => {
  service = await startTestService({ RATE_LIMIT_PER_MINUTE: '1200' }, { workers: false });
});
afterAll(() => service?.stop());

test('feedback is limited by token and by address', async () => {
  await service.call('POST', '/prompts', { body: { name: 'say', template: 'Say it', model: 'sandbox/echo' } });
  await service.call('PUT', '/score-definitions/helpful', { body: { data_type: 'boolean' } });
  const headers = { Prefer: 'respond-async' };
  const { id } = (await service.call('POST', '/executions', { body: { prompt_name: 'say' }, headers })).body;
  const { token } = (await service.call('POST', `/executions/${id}/feedback-token`, { body: { names: ['helpful'] } }))
    .body;
  const statuses: number[] = [];
  for (let count = 0; count < 22; count++)
    statuses.push(
      (await service.call('POST', '/feedback', { key: token, body: { name: 'helpful', value: true } })).status,
    );
  expect(statuses.filter((status) => status === 201)).toHaveLength(20);
  expect(statuses.at(-1)).toBe(429);
  let forged = 0;
  for (; forged < 130; forged++) {
    const { status, headers } = await service.call('POST', '/feedback', { key: 'pmsf_x', body: {} });
    if (status === 429) {
      expect(Number(headers.get('Retry-After'))).toBeGreaterThan(0);
      break;
    }
    expect(status).toBe(401);
  }
  expect(forged).toBeLessThan(130);
});
