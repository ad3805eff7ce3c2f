import type { Declaration } from '../capability.ts';

/** Keys and sessions. */
export const access = {
  name: 'access',
  folders: ['api-keys', 'sessions'],
  tags: {
    'API keys': 'Keys of the workspace and their scopes.',
    Sessions: 'Console sessions.',
  },
  ids: ['apiKey', 'session'],
  audit: {
    'api_key.created': 'api_key',
    'api_key.revoked': 'api_key',
    'session.created': 'session',
    'session.ended': 'session',
  },
  auditedWhenFull: ['api_key.revoked', 'session.ended'],
  quotas: {
    apiKeys: {
      setting: 'QUOTA_API_KEYS',
      default: 100,
      what: 'API keys',
      remedy: 'Revoke a key that is no longer needed',
    },
  },
  notifications: {
    'emergency_key.created': () => ({
      subject: 'An emergency key was made',
      text: `Its actions: GET /v1/audit-log
If you did not expect it, revoke it: GET /v1/api-keys, then DELETE /v1/api-keys/{id}`,
    }),
  },
} as const satisfies Declaration;
