import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { Command } from 'commander';
import type { Api } from 'pms-client';
import {
  generateSigningSecret,
  signedHeaders,
  signingSecretProblem,
} from '../../../src/domain/webhooks/webhook-signature.ts';
import { type Context, connect, printLine, safeText } from '../context.ts';
import { type EventName, eventNames } from '../event-names.ts';
import { CliError, EXIT } from '../exit-status.ts';
import { follow } from '../follow.ts';
import { timeOf } from './logs.ts';

interface ListenOptions {
  forwardTo?: string;
  events?: EventName[];
  since?: string;
  json?: boolean;
}

/** The same time that the service waits for a webhook. */
const TIMEOUT_MS = 10_000;
/** Delay between attempts while the program is not running. */
const RETRY_MS = 1_000;
const MAX_SHOWN_CHARS = 300;

/** @throws CliError */
function checkAddress(text: string): string {
  const url = URL.parse(text);
  if (url === null || !/^https?:$/.test(url.protocol))
    throw new CliError(EXIT.usage, `--forward-to ${text}: use an address such as http://localhost:3000/hook.`);
  return url.href;
}

/** The signing secret: from the environment, or a new one, which is shown. @throws CliError */
function secretOf({ env, stderr }: Context): string {
  const own = env['PMS_WEBHOOK_SECRET'];
  const problem = own ? signingSecretProblem(own) : undefined;
  if (problem !== undefined) throw new CliError(EXIT.usage, `PMS_WEBHOOK_SECRET: ${problem}`);
  const secret = own || generateSigningSecret();
  printLine(stderr, own ? 'Signed with PMS_WEBHOOK_SECRET.' : `Signing secret: ${secret}`);
  return secret;
}

/** The outcome of an event's delivery. */
interface Attempt {
  /** undefined if nothing was listening at the address */
  status: number | undefined;
  text: string;
}

async function send(url: string, event: Api.Event, secret: string, attempt: number): Promise<Attempt> {
  const { id: eventId, event: type, data, timestamp } = event;
  // The same bytes that the service would send.
  const body = Buffer.from(JSON.stringify({ event: type, data, timestamp }));
  const deliveryId = `dlv_${randomUUID()}`;
  const signed = signedHeaders({ body, eventId, deliveryId, attempt, sentAt: new Date(), secrets: [secret] });
  const headers = { 'User-Agent': 'prompt-management-service', ...signed };
  try {
    const signal = AbortSignal.timeout(TIMEOUT_MS);
    const response = await fetch(url, { method: 'POST', headers, body, redirect: 'manual', signal });
    const text = response.ok ? '' : (await response.text().catch(() => '')).slice(0, MAX_SHOWN_CHARS);
    return { status: response.status, text };
  } catch (error) {
    const cause = error instanceof Error ? (error.cause ?? error) : error;
    const isUnsent = cause instanceof Error && 'code' in cause && cause.code === 'ECONNREFUSED';
    return { status: isUnsent ? undefined : 0, text: cause instanceof Error ? cause.message : String(cause) };
  }
}

/** Delivers an event to the program, and waits while it is not running, for example during a restart. */
async function forward(url: string, event: Api.Event, secret: string, { stderr }: Context): Promise<Attempt> {
  for (let attempt = 1; ; attempt += 1) {
    const result = await send(url, event, secret, attempt);
    if (result.status !== undefined) return result;
    if (attempt === 1) printLine(stderr, safeText(`Nothing responds at ${url} (${result.text}). Waiting for it.`));
    await delay(RETRY_MS);
  }
}

function lineOf({ id, event, timestamp }: Api.Event, result: Attempt | undefined): string {
  const became =
    result === undefined ? [] : ['→', result.status === 0 ? 'no response' : `${result.status}`, result.text];
  return [timestamp, event, id, ...became]
    .filter((part) => part !== '')
    .join('  ')
    .replace(/\s*\n\s*/g, ' ');
}

/** `pms listen`. */
export function fillListen(command: Command, context: Context): void {
  const { stdout, stderr } = context;
  command
    .option(
      '--forward-to <address>',
      'address to send events to, such as http://localhost:3000/hook (default: only show them)',
    )
    .option('--events <events>', 'only these events, separated by commas', eventNames)
    .option('--since <time>', 'also send past events created since this time (ISO 8601 with a zone)')
    .option('--json', 'print one JSON object per line')
    .addHelpText('after', '\nSet PMS_WEBHOOK_SECRET to the signing secret; otherwise a new one is generated and shown.')
    .action(async ({ forwardTo, events, since: from, json }: ListenOptions) => {
      const url = forwardTo === undefined ? undefined : checkAddress(forwardTo);
      const start = from === undefined ? undefined : timeOf(from, '--since');
      const pms = await connect(context, Number.POSITIVE_INFINITY);
      const secret = url === undefined ? '' : secretOf(context);
      const wanted = events && new Set<string>(events);
      const only = events?.length === 1 ? { event: events[0] as EventName } : {};
      const list = {
        read: (since: string | undefined) =>
          pms.list('listEvents', { query: { ...only, limit: 1000, ...(since !== undefined && { since }) } }),
        idOf: ({ id }: Api.Event) => id,
        timeOf: ({ timestamp }: Api.Event) => timestamp,
        isReady: () => true,
        lookbackMs: 0,
      };
      for await (const event of follow(list, start, () => printLine(stderr, 'Listening. Press Ctrl-C to stop.'))) {
        if (wanted?.has(event.event) === false) continue;
        const result = url === undefined ? undefined : await forward(url, event, secret, context);
        const shown =
          result === undefined ? event : { ...event, response: { status: result.status, text: result.text } };
        printLine(stdout, json ? JSON.stringify(shown) : safeText(lineOf(event, result)));
      }
    });
}
