import { SAMPLE_DATA } from '../../domain/webhooks/events.ts';

export const eventSample = {
  id: 'evt_0198f0ab-13c8-7a1e-b7d0-41c9a2f36e58',
  event: 'evaluation.completed',
  data: SAMPLE_DATA['evaluation.completed'],
  timestamp: '2026-01-31T12:00:38.344Z',
};
