import { z } from 'zod';
import { smallRecord } from '../../domain/text/json-object.ts';

const MAX_HEADERS = 20;
const MAX_NAME_CHARS = 100;
const MAX_VALUE_CHARS = 4096;

/** RFC 9110, 5.6.2. */
const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
/** RFC 9110, 5.5, ASCII only. */
const VALUE = /^[\t\x20-\x7e]*$/;

/** Headers that the service or the connection sets. */
const RESERVED = new Set([
  'content-type',
  'content-length',
  'host',
  'connection',
  'transfer-encoding',
  'accept-encoding',
  'expect',
  'upgrade',
  'te',
  'trailer',
  'keep-alive',
  'user-agent',
  'x-event-id',
]);
const RESERVED_STARTS = ['proxy-', 'x-signature', 'x-delivery-', 'webhook-', 'x-webhook-'];

function nameProblem(name: string, others: Set<string>): string | undefined {
  const lower = name.toLowerCase();
  if (name.length > MAX_NAME_CHARS) return `has a name longer than ${MAX_NAME_CHARS} characters`;
  if (!TOKEN.test(name)) return "is not a valid header name: use letters, digits and !#$%&'*+-.^_`|~";
  if (RESERVED.has(lower) || RESERVED_STARTS.some((start) => lower.startsWith(start)))
    return 'is set by the service or the connection: use another name';
  if (others.has(lower)) return 'is given twice: header names are case-insensitive';
  return undefined;
}

function valueProblem(value: string): string | undefined {
  if (value.length > MAX_VALUE_CHARS) return `must be at most ${MAX_VALUE_CHARS} characters`;
  return VALUE.test(value) ? undefined : 'must be visible ASCII, spaces and tabs, without line breaks';
}

/** Custom headers of the requests to a webhook. */
export const CustomHeaders = smallRecord(z.string(), z.string('must be a string'), {
  max: MAX_HEADERS,
  message: `must be at most ${MAX_HEADERS}`,
  shown: { type: 'string' },
})
  .check((context) => {
    const refuse = (message: string, path: string[] = []) =>
      context.issues.push({ code: 'custom', message, path, input: undefined });
    const others = new Set<string>();
    for (const [name, value] of Object.entries(context.value)) {
      const problem = nameProblem(name, others) ?? valueProblem(value);
      if (problem !== undefined) refuse(problem, [name]);
      others.add(name.toLowerCase());
    }
  })
  .meta({
    description:
      `Up to ${MAX_HEADERS} custom headers for every request. Their values are stored encrypted and not shown again. ` +
      'Headers that the service sets itself are refused.',
    example: { 'X-Tenant': 'acme' },
  });
