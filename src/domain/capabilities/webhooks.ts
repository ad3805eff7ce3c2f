import { DELETE_ONE, type Declaration, type NotificationMail } from '../capability.ts';

const disabledMail: NotificationMail = ({ webhookId, webhookUrl }) => {
  const webhook = webhookId === null ? 'a webhook' : `the webhook ${webhookId}`;
  const of = webhookUrl === null ? '' : ` (${new URL(webhookUrl).host})`;
  const path = `/v1/webhooks/${webhookId ?? '{id}'}`;
  return {
    subject: `${webhook.charAt(0).toUpperCase()}${webhook.slice(1)}${of} was disabled`,
    text: `${webhook}${of} no longer receives anything. To resume deliveries:

1. Fix what its failed deliveries report: GET ${path}/deliveries
2. Enable it: POST ${path}/enable
3. Replay the events it missed: POST ${path}/replay
   with {"since": "…", "undelivered_only": true}, since a time shortly before it started to fail`,
  };
};

export const webhooks = {
  name: 'webhooks',
  folders: ['deliveries', 'events'],
  tags: {
    Webhooks: 'URLs that receive signed events, and the deliveries to them.',
    Events: 'Events of the workspace, as sent to webhooks.',
    Notifications: 'Events that concern people, and the e-mails sent about them.',
  },
  ids: ['webhook', 'delivery', 'event', 'notification'],
  audit: {
    'webhook.created': 'webhook',
    'webhook.updated': 'webhook',
    'webhook.deleted': 'webhook',
    'webhook.enabled': 'webhook',
    'webhook.disabled': 'webhook',
    'webhook.secret_rotated': 'webhook',
    'webhook.tested': 'webhook',
    'webhook.replayed': 'webhook',
    'webhook.redelivered': 'webhook',
  },
  auditedWhenFull: ['webhook.deleted', 'webhook.disabled'],
  quotas: {
    webhooks: { setting: 'QUOTA_WEBHOOKS', default: 100, what: 'webhooks', remedy: DELETE_ONE, rows: 'webhooks' },
    deliveries: {
      setting: 'QUOTA_DELIVERIES',
      default: 200_000,
      what: 'deliveries that have not ended',
      remedy: 'Wait until some have ended, or disable a webhook that does not respond',
    },
  },
  retention: { events: { setting: 'EVENT_RETENTION', default: 30 * 24 * 60 * 60_000 } },
  notifications: { 'webhook.disabled': disabledMail },
} as const satisfies Declaration;
