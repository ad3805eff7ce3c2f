export const deliverySample = {
  id: 'dlv_0198f0ab-13d2-7f60-8f4b-6d1f0c5e7b21',
  webhook_id: 'wh_0198f0aa-7e5c-7c3a-9d55-0c9f6f1f2a11',
  event_id: 'evt_0198f0ab-13c8-7a1e-b7d0-41c9a2f36e58',
  event: 'evaluation.completed',
  trigger: 'event',
  status: 'delivered',
  status_reason: null,
  attempts_made: 1,
  next_attempt_at: null,
  workflow_id: null,
  created_at: '2026-01-31T12:00:38.354Z',
  finished_at: '2026-01-31T12:00:38.571Z',
};

/** A manually requested delivery. */
export function requestedSample(trigger: 'redelivery' | 'test', status: 'queued' | 'delivered') {
  const requested = { ...deliverySample, trigger, status };
  return status === 'delivered' ? requested : { ...requested, attempts_made: 0, finished_at: null };
}

export const bodySample =
  '{"event":"evaluation.completed","data":{"evaluation_id":"eval_0198f0aa-7e5c-7c3a-9d55-0c9f6f1f2a11"},"timestamp":"2026-01-31T12:00:38.344Z"}';

export const attemptSample = {
  attempt: 1,
  started_at: '2026-01-31T12:00:38.391Z',
  request: {
    url: 'https://example.com/hooks',
    headers: {
      'User-Agent': 'prompt-management-service',
      'Content-Type': 'application/json',
      'webhook-id': 'evt_0198f0ab-13c8-7a1e-b7d0-41c9a2f36e58',
      'webhook-timestamp': '1769860838',
      'webhook-signature': 'v1,K5oZfzN95Z9UVu1EsfQmfVNQhnkZ2pj9o9NDN/H/pI4=',
    },
  },
  status: 200,
  duration_ms: 176,
  response_body: 'ok',
  error: null,
};
