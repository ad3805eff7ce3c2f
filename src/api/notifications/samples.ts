/** A sample for the documentation. */
export const notificationSample = {
  id: 'ntf_0198f2c7-5d0e-7b4a-a3c1-92d7e80f4416',
  type: 'webhook.disabled',
  message:
    'The webhook wh_0198f0aa-7e5c-7c3a-9d55-0c9f6f1f2a11 to example.com was disabled, since a delivery has failed 6 times: ' +
    'the first attempt and 5 retries, the last one with "connection refused".',
  webhook_id: 'wh_0198f0aa-7e5c-7c3a-9d55-0c9f6f1f2a11',
  monitor: null,
  email: { sent_at: '2026-01-31T20:41:12.904Z', error: null },
  created_at: '2026-01-31T20:41:11.380Z',
};
