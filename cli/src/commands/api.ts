import { readFile } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Command } from 'commander';
import { type CallOptions, type Pms, PmsError } from 'pms-client';
import { findLongNumber } from '../../../src/domain/prompt-rules/number-digits.ts';
import { type Context, connect, printJson, printLine } from '../context.ts';
import { CliError, EXIT } from '../exit-status.ts';
import { isObject } from '../json.ts';
import { LongNumberError, parseExactly } from '../long-numbers.ts';
import { collect } from '../options.ts';

interface ApiOptions {
  field: string[];
  fieldJson: string[];
  input?: string;
  header: string[];
  paginate?: boolean;
}

type Fields = [name: string, value: unknown][];

/** Splits a text into two parts. @throws CliError */
function split(text: string, at: string, what: string): [before: string, behind: string] {
  const cut = text.indexOf(at);
  if (cut < 1) throw new CliError(EXIT.usage, `${text}: ${what}`);
  return [text.slice(0, cut), text.slice(cut + at.length).trimStart()];
}

function jsonOf(name: string, text: string): unknown {
  try {
    return parseExactly(text);
  } catch (error) {
    if (error instanceof LongNumberError) throw new CliError(EXIT.usage, `--field-json ${name}: ${error.message}`);
    throw new CliError(EXIT.usage, `--field-json ${name}: is not valid JSON`);
  }
}

function fieldsOf({ field, fieldJson }: ApiOptions): Fields {
  const assignment = (text: string) => split(text, '=', 'give a name and a value, such as name=Ada');
  const texts: Fields = field.map(assignment);
  return [...texts, ...fieldJson.map(assignment).map(([name, text]): Fields[number] => [name, jsonOf(name, text)])];
}

/** A path under `/v1`. @throws CliError for an absolute address, because the key is only for the service */
function pathOf(text: string): string {
  if (/^[a-z][a-z0-9+.-]*:/i.test(text) || text.startsWith('//'))
    throw new CliError(EXIT.usage, `${text}: use an API path such as /v1/prompts.`);
  return `/${text.replace(/^\/+/, '').replace(/^v1(?=\/|\?|$)\/*/, '')}`;
}

/** Appends fields to a path's query; repeated fields are kept. */
function withQuery(path: string, fields: Fields): string {
  if (fields.length === 0) return path;
  const texts = fields.map(([name, value]): [string, string] => [
    name,
    typeof value === 'string' ? value : JSON.stringify(value),
  ]);
  return `${path}${path.includes('?') ? '&' : '?'}${new URLSearchParams(texts).toString()}`;
}

async function readInput(input: string, { stdin }: Context): Promise<Uint8Array<ArrayBuffer>> {
  if (input !== '-') return new Uint8Array(await readFile(input));
  return new Uint8Array(Buffer.concat(await Array.fromAsync(stdin as AsyncIterable<Buffer>)));
}

/** The entries of all pages of a list. */
async function allPages(pms: Pms, path: string, options: CallOptions): Promise<unknown[]> {
  const entries: unknown[] = [];
  for (let at = path; ; ) {
    const text = await (await pms.request('GET', at, options)).text();
    if (findLongNumber(text) !== undefined)
      throw new CliError(EXIT.failed, `${at}: has a number with more digits than are kept: omit --paginate.`);
    const page: unknown = JSON.parse(text);
    if (!isObject(page) || !Array.isArray(page['data']))
      throw new CliError(EXIT.usage, `${path} does not return a list: omit --paginate.`);
    entries.push(...page['data']);
    if (typeof page['next_cursor'] !== 'string') return entries;
    at = withQuery(path, [['cursor', page['next_cursor']]]);
  }
}

/** Pretty-prints JSON, and streams anything else unchanged. */
async function printResponse(response: Response, { stdout }: Context): Promise<void> {
  if (/\bjson$/.test(response.headers.get('Content-Type')?.split(';')[0] ?? '')) {
    const text = await response.text();
    // JSON that would lose digits is printed unchanged.
    if (findLongNumber(text) !== undefined) stdout.write(`${text}\n`);
    else if (text !== '') printJson(stdout, JSON.parse(text));
  } else if (response.body !== null) await pipeline(Readable.from(response.body), stdout, { end: false });
}

/** `pms api`. */
export function fillApi(command: Command, context: Context): void {
  command
    .argument('<method>', 'GET, POST, PUT, PATCH or DELETE')
    .argument('<path>', 'API path such as /v1/prompts')
    .option(
      '-f, --field <name=text>',
      'string field of the body, or of the query for GET and DELETE; repeatable',
      collect,
      [],
    )
    .option('-F, --field-json <name=json>', 'field with a JSON value; repeatable', collect, [])
    .option('--input <file>', 'send this file as the body; - for standard input')
    .option('-H, --header <name: value>', 'add a request header; repeatable', collect, [])
    .option('--paginate', 'read all pages of a list and print one combined list')
    .addHelpText('after', '\nThe API is described at /docs of the service.')
    .action(async (given: string, place: string, options: ApiOptions) => {
      const { input, header, paginate } = options;
      const method = given.toUpperCase();
      const hasBody = method !== 'GET' && method !== 'DELETE' && method !== 'HEAD';
      const fields = fieldsOf(options);
      if (!/^[A-Z]+$/.test(method))
        throw new CliError(EXIT.usage, `${given} is not an HTTP method: use one such as GET.`);
      if (input !== undefined && hasBody && fields.length > 0)
        throw new CliError(EXIT.usage, 'Give --input or fields, not both.');
      if (paginate && method !== 'GET') throw new CliError(EXIT.usage, '--paginate requires GET.');
      const path = hasBody ? pathOf(place) : withQuery(pathOf(place), fields);
      const own = Object.fromEntries(header.map((text) => split(text, ':', 'give a header such as "Prefer: wait=0"')));
      const key = Object.keys(own).find((name) => name.toLowerCase() === 'idempotency-key');
      const body =
        input === undefined
          ? hasBody && fields.length > 0 && JSON.stringify(Object.fromEntries(fields))
          : await readInput(input, context);
      const request = {
        headers: { ...(body !== false && { 'Content-Type': 'application/json' }), ...own },
        ...(body !== false && { body }),
        ...(key !== undefined && { idempotencyKey: own[key] }),
      };
      const pms = await connect(context);
      try {
        if (paginate) printJson(context.stdout, await allPages(pms, path, request));
        else await printResponse(await pms.request(method, path, request), context);
      } catch (error) {
        if (error instanceof PmsError && error.status !== undefined) {
          const { code, message, details } = error;
          printLine(context.stdout, JSON.stringify({ error: { code, message, details } }, undefined, 2));
        }
        throw error;
      }
    });
}
