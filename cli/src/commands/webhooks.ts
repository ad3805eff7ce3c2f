import type { Command } from 'commander';
import type { Api } from 'pms-client';
import { type Context, connect, printJson, printLine, safeText } from '../context.ts';
import { type EventName, eventName, eventNames } from '../event-names.ts';
import { CliError, EXIT } from '../exit-status.ts';
import { type Columns, pageSize, printDone, printList, take } from '../lists.ts';
import { collect, given, wholeNumber } from '../options.ts';
import { recordCommands } from '../record-commands.ts';

interface CreateOptions {
  events?: EventName[];
  description?: string;
  header: string[];
  rateLimit?: number;
  json?: boolean;
}

interface DeliveriesOptions {
  status?: Api.Delivery['status'];
  event?: EventName;
  since?: string;
  limit: number;
  json?: boolean;
}

const WEBHOOKS: Columns<Api.Webhook> = {
  webhook: ({ id }) => id,
  url: ({ url }) => url,
  state: ({ status, disabled_reason: why }) => (why === null ? status : `${status}: ${why}`),
  events: ({ events }) => events.join(' '),
  'last delivery': ({ last_delivery_at: at }) => at,
};

const DELIVERIES: Columns<Api.Delivery> = {
  delivery: ({ id }) => id,
  event: ({ event }) => event,
  status: ({ status, status_reason: why }) => (why === null ? status : `${status}: ${why}`),
  attempts: ({ attempts_made: made }) => made,
  'next attempt': ({ next_attempt_at: at }) => at,
  created: ({ created_at: at }) => at,
};

/** @throws CliError */
function headersOf(header: string[]): Record<string, string> {
  return Object.fromEntries(
    header.map((text) => {
      const cut = text.indexOf(':');
      if (cut < 1)
        throw new CliError(EXIT.usage, `--header ${text}: must be a name and a value, such as "X-Team: geo"`);
      return [text.slice(0, cut), text.slice(cut + 1).trim()];
    }),
  );
}

const CONTROLS = {
  enable: ['enableWebhook', 'enable a webhook', 'is enabled'],
  disable: ['disableWebhook', 'disable a webhook', 'is disabled'],
} as const;

/** `pms webhooks list|get|create|enable|disable|rotate-secret|delete|test|deliveries|delivery|redeliver|replay`. */
export function addWebhookCommands(webhooks: Command, context: Context): void {
  const { stdout, stderr } = context;

  /** Prints only the secret on standard output, so that a script can capture it. */
  const printSecret = (webhook: Api.Webhook & { secret: string }, json: boolean | undefined) => {
    if (json) return printJson(stdout, webhook);
    printLine(stderr, safeText(`Created ${webhook.id} for ${webhook.url}. Its signing secret, shown only once:`));
    printLine(stdout, safeText(webhook.secret));
  };

  const records = recordCommands<Api.Webhook>(webhooks, context, ['<id>', 'wh_…']);
  const deliveries = recordCommands<Api.Delivery>(webhooks, context, ['<id>', 'dlv_…']);
  records.list('list webhooks', (pms) => pms.list('listWebhooks'), WEBHOOKS);
  records.get('show a webhook', (pms, id) => pms.call('getWebhook', { path: { id } }));

  webhooks
    .command('create')
    .description('create a webhook and print its signing secret, shown only once')
    .argument('<url>', 'https://…')
    .option(
      '--events <events>',
      'event types, separated by commas (default: those of prompts, executions and evaluations)',
      eventNames,
    )
    .option('--description <text>', 'description for your own reference')
    .option('--header <name: value>', 'header to add to every request; repeatable', collect, [])
    .option('--rate-limit <number>', 'maximum requests per minute', wholeNumber)
    .option('--json', 'print the record, including the secret, as JSON')
    .action(async (url: string, { events, description, header, rateLimit, json }: CreateOptions) => {
      const headers = header.length === 0 ? undefined : headersOf(header);
      const body = { url, ...given({ events, description, headers, rate_limit_per_minute: rateLimit }) };
      printSecret(await (await connect(context)).call('createWebhook', { body }), json);
    });

  records.controls(CONTROLS, (pms, operation, id) => pms.call(operation, { path: { id } }));

  webhooks
    .command('rotate-secret')
    .description('rotate the signing secret and print the new one; the old one also signs for 24 hours')
    .argument('<id>', 'wh_…')
    .option('--json', 'print the record, including the secret, as JSON')
    .action(async (id: string, { json }: { json?: boolean }) => {
      const pms = await connect(context);
      printSecret(await pms.call('rotateWebhookSecret', { path: { id }, body: {} }), json);
    });

  records.delete('delete a webhook and abandon its deliveries', (pms, id) =>
    pms.call('deleteWebhook', { path: { id } }),
  );

  webhooks
    .command('test')
    .description('send a sample event once; exit with 1 if it was not delivered')
    .argument('<id>', 'wh_…')
    .option('--event <event>', 'type of the sample event', eventName)
    .option('--json', 'print JSON')
    .action(async (id: string, { event, json }: { event?: EventName; json?: boolean }) => {
      const pms = await connect(context);
      const delivery = await pms.call('testWebhook', { path: { id }, body: given({ event }) });
      printDone(stdout, delivery, json, `${delivery.id} of ${delivery.event}: ${delivery.status}`);
      if (delivery.status !== 'delivered')
        throw new CliError(
          EXIT.failed,
          `${delivery.id} is ${delivery.status}: ${delivery.status_reason ?? 'no end yet'}`,
        );
    });

  webhooks
    .command('deliveries')
    .description('list the deliveries of a webhook, newest first')
    .argument('<id>', 'wh_…')
    .option('--status <status>', 'only this status: queued, waiting, delivered, failed or abandoned')
    .option('--event <event>', 'only deliveries of this event', eventName)
    .option('--since <time>', 'created at or after this time (ISO 8601 with a zone)')
    .option('--limit <number>', 'maximum number to list', wholeNumber, 50)
    .option('--json', 'print JSON')
    .action(async (id: string, { limit, json, ...filter }: DeliveriesOptions) => {
      const pms = await connect(context);
      const query = { ...given(filter), limit: pageSize(limit) };
      printList(stdout, await take(pms.list('listDeliveries', { path: { id }, query }), limit), DELIVERIES, json);
    });

  deliveries.get('show a delivery with its attempts', (pms, id) => pms.call('getDelivery', { path: { id } }), {
    name: 'delivery',
  });
  deliveries.act(
    'redeliver',
    'redeliver the event of a delivery',
    (pms, id) => pms.call('redeliver', { path: { id } }),
    (_, { id, event, status }) => `${id} of ${event}: ${status}`,
  );

  webhooks
    .command('replay')
    .description('replay the events of a time range')
    .argument('<id>', 'wh_…')
    .requiredOption('--since <time>', 'events created at or after this time (ISO 8601 with a zone)')
    .option('--until <time>', 'events created before this time (ISO 8601 with a zone; default: now)')
    .option('--undelivered-only', 'only undelivered events')
    .option('--json', 'print JSON')
    .action(
      async (
        id: string,
        {
          since,
          until,
          undeliveredOnly,
          json,
        }: { since: string; until?: string; undeliveredOnly?: boolean; json?: boolean },
      ) => {
        const body = { since, ...given({ until, undelivered_only: undeliveredOnly }) };
        const pms = await connect(context);
        const result = await pms.call('replayEvents', { path: { id }, body });
        printDone(stdout, result, json, `Replaying ${result.replayed} events`);
      },
    );
}
