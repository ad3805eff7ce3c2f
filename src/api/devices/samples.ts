import { apiKeySample } from '../api-keys/samples.ts';

/** Samples for the documentation. */
export const createdSample = {
  device_code: 'y0n6zq3vQ1m4Tt8sWkq2b7Hd5xJrLcPfG9aEuVoNiMw',
  user_code: 'BCDF-GHJK',
  verification_uri: 'https://prompts.example.com/console/device',
  verification_uri_complete: 'https://prompts.example.com/console/device?code=BCDF-GHJK',
  expires_in: 600,
  interval: 5,
};

export const deviceSample = {
  client: 'pms on workstation',
  address: '192.0.2.1',
  status: 'pending',
  key: { kind: 'personal', scopes: ['read', 'execute', 'score'], expires_at: null },
  created_at: '2026-01-31T12:00:00.000Z',
  expires_at: '2026-01-31T12:10:00.000Z',
};

export const approvedSample = {
  ...deviceSample,
  status: 'approved',
  key: { ...deviceSample.key, expires_at: '2026-05-01T12:00:30.000Z' },
};

export const deniedSample = { ...deviceSample, status: 'denied', key: null };

export const deviceKeySample = {
  ...apiKeySample,
  name: 'pms on workstation',
  kind: 'personal',
  member_id: 'mem_0198f0aa-7e5c-7c3a-9d55-0c9f6f1f2a11',
  expires_at: '2026-05-01T12:00:30.000Z',
  key: 'pms_<43 characters>',
  workspace: { name: 'default' },
};
