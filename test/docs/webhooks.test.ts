import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { EVENT_TYPES } from '../../src/domain/webhooks/events.ts';
import { generateSigningSecret, signedHeaders } from '../../src/domain/webhooks/webhook-signature.ts';
import { ownBlocks } from '../support/guides.ts';
import { claimsOf } from './claims.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
const page = readFileSync(path.join(root, 'docs/webhooks.md'), 'utf8');

const own = ownBlocks(claimsOf('test/docs/webhooks.test.ts'));
const examples = own.take({ page: 'docs/webhooks.md', language: 'json' }).map(({ code }) => code);

/** The only block of a language that has this in it. */
function snippet(language: string, part: string): string {
  const found = own.take({ page: 'docs/webhooks.md', language, has: part });
  expect(found).toHaveLength(1);
  return found[0]?.code ?? '';
}

describe('examples', () => {
  test('each is JSON', () => {
    expect(examples.length).toBeGreaterThan(EVENT_TYPES.length);
    for (const example of examples) expect(JSON.parse(example)).toBeInstanceOf(Object);
  });

  test('the bodies of requests are JSON', () => {
    const bodies = [...page.matchAll(/-d '([^']*)'/g)].map(([, body = '']) => body);
    expect(bodies.length).toBeGreaterThan(1);
    for (const body of bodies) expect(JSON.parse(body)).toBeInstanceOf(Object);
  });

  test('there is one body for each event, with exactly the specified fields', () => {
    const evaluation = ['evaluation_id', 'prompt_name', 'score', 'examples_evaluated', 'regressions'];
    const bodies = examples.map((example) => JSON.parse(example)).filter(({ data }) => data !== undefined);
    expect(bodies.map(({ event }) => event)).toEqual(EVENT_TYPES);
    for (const body of bodies) {
      expect(Object.keys(body)).toEqual(['event', 'data', 'timestamp']);
      expect(new Date(body.timestamp).toISOString()).toBe(body.timestamp);
    }
    const dataOf = (type: string) => bodies.find(({ event }) => event === type);
    const [completed, regression] = ['evaluation.completed', 'evaluation.regression'].map(dataOf);
    expect(Object.keys(completed.data)).toEqual(evaluation);
    expect(Object.keys(regression.data)).toEqual([...evaluation, 'threshold']);
  });

  test('the table of headers has only those that are sent', () => {
    const table = page.match(/\n## The request\n([\s\S]*?)\n## /)?.[1] ?? '';
    const described = [...table.matchAll(/^\| (`[^|]*) \|/gm)].flatMap(([, cell = '']) =>
      [...cell.matchAll(/`([\w-]+)`/g)].map(([, name = '']) => name),
    );
    const sent = request({ secrets: [generateSigningSecret(), generateSigningSecret()] }).headers;
    expect(described).toEqual(Object.keys(sent));
  });
});

/** A request as received, the receiver's secret, and whether it should accept the request. */
interface Case {
  /** in base64 */
  body: string;
  headers: Record<string, string>;
  secret: string;
  accepted: boolean;
}

const unicode = Buffer.from('{"event":"prompt.created","data":{"commit_message":"kürzer 世界 🌍 \\u2028"}}');
const printed = Buffer.from(JSON.stringify(JSON.parse(unicode.toString()), null, 2));
const [secret, former] = [generateSigningSecret(), generateSigningSecret()];
const ownSecret = 'a-secret-of-our-own-$HOME-\'"\\`!';

function request({
  body = unicode,
  secrets = [secret],
  sentAt = new Date(),
}: {
  body?: Buffer;
  secrets?: readonly [string, string?];
  sentAt?: Date;
}): { body: string; headers: Record<string, string> } {
  const [eventId, deliveryId] = [
    'evt_01a1fcc1-0d2f-7e90-b3a4-5d8c1f6e7a02',
    'dlv_01a1fcc1-0d3c-7b1f-8c55-19e2a7d04f6a',
  ];
  const headers = signedHeaders({ body, eventId, deliveryId, attempt: 1, sentAt, secrets });
  return { body: body.toString('base64'), headers };
}

const good = request({});
const changed = (bytes: Buffer) => ({ body: bytes.toString('base64'), headers: good.headers });
const rotated = request({ secrets: [secret, former] });
const { 'X-Signature': signature = '', ...unsigned } = good.headers;
const withSignature = (value: string) => ({ ...good, headers: { ...unsigned, 'X-Signature': value } });

const common: Record<string, Case> = {
  'a request as it was sent': { ...good, secret, accepted: true },
  'a body that is not JSON, with line ends': {
    ...request({ body: Buffer.from('a\r\nb\n\n') }),
    secret,
    accepted: true,
  },
  'a secret that the receiver does not know': { ...good, secret: former, accepted: false },
  'a changed byte': {
    ...changed(Buffer.from(unicode.toString().replace('created', 'creates'))),
    secret,
    accepted: false,
  },
  'a byte more': { ...changed(Buffer.concat([unicode, Buffer.from('\n')])), secret, accepted: false },
  'JSON that was parsed and printed again': { ...changed(printed), secret, accepted: false },
  'the new secret during a rotation': { ...rotated, secret, accepted: true },
  'the old secret during a rotation': { ...rotated, secret: former, accepted: true },
  'the old secret after a rotation': { ...request({ secrets: [secret] }), secret: former, accepted: false },
};

/** For receivers that check X-Signature. */
const ofBody: Record<string, Case> = {
  ...common,
  'a secret that a shell could take apart': { ...request({ secrets: [ownSecret] }), secret: ownSecret, accepted: true },
  'bytes that are not a text': { ...request({ body: Buffer.from([0, 255, 254, 10]) }), secret, accepted: true },
  'no signature': { body: good.body, headers: unsigned, secret, accepted: false },
  'an empty signature': { ...withSignature(''), secret, accepted: false },
  'a signature without its digits': { ...withSignature('sha256='), secret, accepted: false },
  'a signature without its name': { ...withSignature(signature.slice(7)), secret, accepted: false },
  'a signature that was cut': { ...withSignature(signature.slice(0, -1)), secret, accepted: false },
  'a changed signature': {
    ...withSignature(signature.slice(0, -1) + (signature.endsWith('0') ? '1' : '0')),
    secret,
    accepted: false,
  },
};

/** For receivers that check webhook-signature. */
const ofAttempt: Record<string, Case> = {
  ...common,
  'a request of six minutes ago': {
    ...request({ sentAt: new Date(Date.now() - 360_000) }),
    secret,
    accepted: false,
  },
  'a request of six minutes ago with a time of now': {
    body: good.body,
    headers: {
      ...request({ sentAt: new Date(Date.now() - 360_000) }).headers,
      'webhook-timestamp': String(Math.floor(Date.now() / 1000)),
    },
    secret,
    accepted: false,
  },
  'the id of another event': { ...good, headers: { ...good.headers, 'webhook-id': 'evt_0' }, secret, accepted: false },
};

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'webhook-snippets-'));
  symlinkSync(path.join(root, 'node_modules'), path.join(folder, 'node_modules'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const write = (name: string, text: string) => writeFileSync(path.join(folder, name), text);

/** Runs a program to its end and returns its output. */
function run(program: string, args: string[], input = '', env: Record<string, string> = {}): string {
  const ended = spawnSync(program, args, { cwd: folder, input, env: { ...process.env, ...env }, encoding: 'utf8' });
  if (ended.status !== 0)
    throw new Error(`${program} ended with ${ended.status}: ${ended.stderr}`, { cause: ended.error });
  return ended.stdout;
}

/** Passes all cases to a program, which prints a list of true and false. */
function expectVerdicts(cases: Record<string, Case>, program: string, args: string[]): void {
  const verdicts: boolean[] = JSON.parse(run(program, args, JSON.stringify(Object.values(cases))));
  expect(Object.fromEntries(Object.keys(cases).map((name, index) => [name, verdicts[index]]))).toEqual(
    Object.fromEntries(Object.entries(cases).map(([name, { accepted }]) => [name, accepted])),
  );
}

/** A test that needs a program; skipped if it is missing. */
function where(program: string, argument: string): { run: typeof test | typeof test.skip; note: string } {
  const found = spawnSync(program, [argument]).status === 0;
  return found ? { run: test, note: '' } : { run: test.skip, note: ` (skipped: no ${program} on the PATH)` };
}

describe('verification', () => {
  test('TypeScript', () => {
    write('verify.mts', snippet('ts', 'createHmac'));
    write(
      'run.mts',
      `import { json } from 'node:stream/consumers';
import { isSigned } from './verify.mts';
const lower = (headers) => Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
const cases = await json(process.stdin);
console.log(JSON.stringify(cases.map(({ body, headers, secret }) =>
  isSigned(Buffer.from(body, 'base64'), lower(headers), secret))));
`,
    );
    expectVerdicts(ofBody, process.execPath, ['run.mts']);
  });

  test('TypeScript with standardwebhooks', () => {
    write('receiver.mts', snippet('ts', "from 'standardwebhooks'"));
    write(
      'receive.mts',
      `import { json } from 'node:stream/consumers';
const verdicts = [];
for (const [index, { body, headers, secret }] of (await json(process.stdin)).entries()) {
  process.env['WEBHOOK_SECRET'] = secret;
  const { POST } = await import(\`./receiver.mts?\${index}\`);
  const request = new Request('https://example.com/hooks', { method: 'POST', headers, body: Buffer.from(body, 'base64') });
  verdicts.push({ 200: true, 401: false }[(await POST(request)).status]);
}
console.log(JSON.stringify(verdicts));
`,
    );
    const parsed = Object.entries(ofAttempt).filter(([name]) => !name.includes('not JSON'));
    expectVerdicts(Object.fromEntries(parsed), process.execPath, ['receive.mts']);
  });

  const python = where('python3', '--version');
  python.run(`Python${python.note}`, () => {
    write('verify.py', snippet('python', 'is_signed'));
    write(
      'run.py',
      `import base64, email.message, json, sys
from verify import is_signed

def verdict(case):
    headers = email.message.Message()
    for name, value in case["headers"].items():
        headers[name.lower()] = value
    return is_signed(base64.b64decode(case["body"]), headers, case["secret"])

print(json.dumps([verdict(case) for case in json.load(sys.stdin)]))
`,
    );
    expectVerdicts(ofBody, 'python3', ['-B', 'run.py']);
  });

  const go = where('go', 'version');
  go.run(`Go${go.note}`, () => {
    write('verify.go', snippet('go', 'isSigned'));
    write(
      'main.go',
      `package main

import (
	"encoding/json"
	"net/http"
	"os"
)

func main() {
	var cases []struct {
		Body    []byte
		Headers map[string]string
		Secret  string
	}
	if err := json.NewDecoder(os.Stdin).Decode(&cases); err != nil {
		panic(err)
	}
	verdicts := []bool{}
	for _, one := range cases {
		header := http.Header{}
		for name, value := range one.Headers {
			header.Set(name, value)
		}
		verdicts = append(verdicts, isSigned(one.Body, header, one.Secret))
	}
	if err := json.NewEncoder(os.Stdout).Encode(verdicts); err != nil {
		panic(err)
	}
}
`,
    );
    const offline = { GOPROXY: 'off', GOTOOLCHAIN: 'local', GOFLAGS: '', CGO_ENABLED: '0' };
    run('go', ['build', '-o', 'receiver', 'verify.go', 'main.go'], '', offline);
    expectVerdicts(ofBody, path.join(folder, 'receiver'), []);
  });

  const openssl = where('openssl', 'version');
  describe('shell', () => {
    /** Whether the script accepts a request; undefined if it failed. */
    function verdict({ body, headers, secret: known }: Case, env: Record<string, string> = {}): boolean | undefined {
      write('verify.sh', snippet('sh', 'openssl dgst'));
      const { 'X-Signature': first, 'X-Signature-Previous': second } = headers;
      const variables = {
        WEBHOOK_SECRET: known,
        ...(first !== undefined && { X_SIGNATURE: first }),
        ...(second !== undefined && { X_SIGNATURE_PREVIOUS: second }),
      };
      const ended = spawnSync('/bin/sh', ['verify.sh'], {
        cwd: folder,
        input: Buffer.from(body, 'base64'),
        env: { ...process.env, ...variables, ...env },
        encoding: 'utf8',
      });
      if (ended.status === 0) return true;
      return ended.status === 1 && ended.stderr === '' ? false : undefined;
    }

    openssl.run.each(Object.entries(ofBody))(`%s${openssl.note}`, (_name, one) => {
      expect(verdict(one)).toBe(one.accepted);
    });

    test('without openssl nothing is accepted', () => {
      for (const one of [good, withSignature(''), withSignature('sha256=')])
        expect(verdict({ ...one, secret, accepted: false }, { PATH: folder })).not.toBe(true);
    });
  });
});
