export const webhookSample = {
  id: 'wh_0198f0aa-7e5c-7c3a-9d55-0c9f6f1f2a11',
  url: 'https://example.com/hooks/prompts',
  events: ['evaluation.completed', 'evaluation.regression'],
  description: null,
  status: 'enabled',
  disabled_reason: null,
  consecutive_failures: 0,
  rate_limit_per_minute: null,
  header_names: ['X-Tenant'],
  previous_secret_expires_at: null,
  last_delivery_at: null,
  created_at: '2026-01-31T12:00:00.000Z',
  updated_at: '2026-01-31T12:00:00.000Z',
};

/** Not a real secret, because it might be copied. */
export const secretSample = 'whsec_<44 characters>';
