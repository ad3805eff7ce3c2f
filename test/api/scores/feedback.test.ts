import { randomBytes, randomInt } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { createCipher } from '../../../src/domain/cipher.ts';
import { newId, parsePublicId } from '../../../src/domain/ids.ts';
import { createFeedbackToken, readFeedbackToken } from '../../../src/services/scores/feedback-token.ts';
import { deleteWorkspace } from '../../../src/services/workspaces/delete-workspace.ts';
import { startTestService, type TestService } from '../../support/service.ts';
import { createOtherWorkspace } from '../workspace.ts';

const ANY_ORIGIN = { Origin: 'https://shop.example' };
const INVALID = { error: { code: 'unauthorized', message: 'This token is not valid.' } };
let service: TestService;
beforeAll(async () => {
  service = await startTestService();
  await service.call('POST', '/prompts', { body: { name: 'say', template: 'Say it', model: 'sandbox/echo' } });
  await define('helpful', 'boolean');
  await define('why', 'categorical');
});
afterAll(() => service?.stop());

const define = (name: string, type: string, { call }: Pick<TestService, 'call'> = service) =>
  call('PUT', `/score-definitions/${name}`, { body: { data_type: type } });
const run = async (): Promise<string> =>
  (await service.call('POST', '/executions', { body: { prompt_name: 'say' } })).body.id;
const tokenFor = async (id: string, body: object = { names: ['helpful'] }) => {
  const answer = await service.call('POST', `/executions/${id}/feedback-token`, { body });
  expect(answer.status).toBe(201);
  return answer.body;
};
const say = (token: string | null, body: unknown, headers: Record<string, string> = ANY_ORIGIN) =>
  service.call('POST', '/feedback', { key: token, body, headers });
const scoresOf = async (id: string) => (await service.call('GET', `/scores?execution_id=${id}`)).body.data;

test('a page of any origin submits a score with a token, and a repeat replaces it', async () => {
  const id = await run();
  const granted = await tokenFor(id, { names: ['helpful', 'why'], expires_in: 60 });
  expect(granted).toEqual({
    token: expect.stringMatching(/^pmsf_[\w-]+$/),
    execution_id: id,
    names: ['helpful', 'why'],
    expires_at: expect.any(String),
  });
  const first = await say(granted.token, { name: 'helpful', value: true, comment: 'Thanks!' });
  expect([first.status, first.body]).toEqual([201, { name: 'helpful', value: true, comment: 'Thanks!' }]);
  expect(first.headers.get('Access-Control-Allow-Origin')).toBe('*');
  expect(first.headers.has('Access-Control-Allow-Credentials')).toBe(false);
  expect((await say(granted.token, { name: 'helpful', value: false })).status).toBe(201);
  expect((await say(granted.token, { name: 'why', value: 'slow' })).status).toBe(201);
  expect(await scoresOf(id)).toEqual([
    expect.objectContaining({ name: 'why', value: 'slow' }),
    expect.objectContaining({ name: 'helpful', value: false, comment: null, source: 'feedback', author: null }),
  ]);
});

test('a page scores a trace, a step or a conversation, which can come later', async () => {
  const trace = randomBytes(16).toString('hex');
  for (const subject of [
    { trace_id: trace },
    { trace_id: trace, span_id: randomBytes(8).toString('hex') },
    { conversation_id: 'chat\n17 ü' },
  ]) {
    const ask = { subject, names: ['helpful', 'why'] };
    const { status, body } = await service.call('POST', '/feedback-tokens', { body: ask });
    expect([status, body.subject, body.names]).toEqual([201, subject, ['helpful', 'why']]);
    for (const value of [true, false]) expect((await say(body.token, { name: 'helpful', value })).status).toBe(201);
    const query = new URLSearchParams(subject as Record<string, string>).toString();
    const { data } = (await service.call('GET', `/scores?${query}`)).body;
    expect(data.filter((one: { subject: object }) => isDeepStrictEqual(one.subject, subject))).toEqual([
      expect.objectContaining({ value: false, source: 'feedback', subject }),
    ]);
  }
  for (const subject of [{ execution_id: await run() }, { evaluation_id: 'x', example_id: 'y' }, {}])
    expect((await service.call('POST', '/feedback-tokens', { body: { subject, names: ['helpful'] } })).status).toBe(
      400,
    );
});

test('a token is only for its names and its execution', async () => {
  const id = await run();
  const { token } = await tokenFor(id);
  const refused = await say(token, { name: 'other', value: 1 });
  expect([refused.status, refused.body.error.message]).toEqual([400, 'name: must be one of helpful']);
  for (const body of [
    { name: 'helpful', value: 1, subject: { execution_id: id } },
    { name: 'helpful' },
    [],
    { name: 'helpful', value: {} },
  ])
    expect((await say(token, body)).status).toBe(400);
  const large = await say(token, { name: 'helpful', value: 1, comment: 'x'.repeat(40_000) });
  expect([large.status, large.body.error.code]).toEqual([400, 'payload_too_large']);
  for (const [method, path] of [
    ['GET', `/executions/${id}`],
    ['GET', '/scores'],
    ['POST', '/scores'],
  ] as const) {
    const answer = await service.call(method, path, { key: token });
    expect([path, answer.status, answer.body.error.code]).toEqual([path, 401, 'unauthorized']);
  }
  for (const method of ['GET', 'DELETE'])
    expect((await service.call(method, '/feedback', { key: token })).status).toBe(400);
  expect(await scoresOf(id)).toEqual([]);
});

test('a token is created only for known names, and creates none', async () => {
  const id = await run();
  const ask = (...names: string[]) => service.call('POST', `/executions/${id}/feedback-token`, { body: { names } });
  const refused = await ask('helpful', 'unknown');
  expect([refused.status, refused.body.error.message]).toEqual([
    400,
    'names.1: "unknown" has neither a definition nor a score: define it first, with PUT /score-definitions/unknown',
  ]);
  await service.call('POST', '/scores', { body: { name: 'scored', value: 1, subject: { execution_id: id } } });
  expect((await ask('scored')).status).toBe(201);
  await define('passing', 'boolean');
  const { token } = (await ask('passing')).body;
  await service.call('DELETE', '/score-definitions/passing');
  const said = await say(token, { name: 'passing', value: 'x' });
  expect([said.status, said.body.error.message]).toEqual([
    400,
    'name: "passing" has neither a definition nor a score: define it first, with PUT /score-definitions/passing',
  ]);
  expect((await service.call('GET', '/score-definitions/passing')).status).toBe(404);
  await service.call('DELETE', `/executions/${id}`);
  expect((await say(token, { name: 'passing', value: true })).body).toEqual(INVALID);
});

test('only this path can be called by browsers from any origin', async () => {
  const preflight = (path: string) =>
    fetch(`${service.origin}/v1${path}`, {
      method: 'OPTIONS',
      headers: {
        ...ANY_ORIGIN,
        'Access-Control-Request-Method': 'POST',
        'Access-Control-Request-Headers': 'authorization,content-type',
      },
    });
  const allowed = await preflight('/feedback');
  expect([allowed.status, await allowed.text()]).toEqual([200, '']);
  expect(Object.fromEntries(allowed.headers)).toMatchObject({
    'access-control-allow-origin': '*',
    'access-control-allow-methods': 'POST',
    'access-control-allow-headers': 'Authorization, Content-Type',
  });
  for (const path of ['/scores', '/feedback/', '/feedback/x', `/executions/exec_${newId()}/feedback-token`]) {
    const answer = await preflight(path);
    expect([path, answer.status, answer.headers.has('Access-Control-Allow-Origin')]).toEqual([path, 401, false]);
  }
  const key = await say(service.key, { name: 'helpful', value: 1 });
  expect([key.status, key.body, key.headers.get('Access-Control-Allow-Origin')]).toEqual([401, INVALID, '*']);
});

test('whatever the error in a token, the answer is the same', async () => {
  const { cipher, db } = service.dependencies;
  const id = await run();
  const { token } = await tokenFor(id);
  const grant = readFeedbackToken(cipher, token);
  if (grant === undefined) throw new Error('The token is not valid.');
  const gone = await run();
  const { token: ofGone } = await tokenFor(gone);
  await service.call('DELETE', `/executions/${gone}`);
  const other = await createOtherWorkspace(service, 'closed');
  await other.call('POST', '/prompts', { body: { name: 'say', template: 'Say it', model: 'sandbox/echo' } });
  await define('helpful', 'boolean', other);
  const theirs = (await other.call('POST', '/executions', { body: { prompt_name: 'say' } })).body.id;
  const { token: ofClosed } = (
    await other.call('POST', `/executions/${theirs}/feedback-token`, { body: { names: ['helpful'] } })
  ).body;
  await deleteWorkspace(db.system, 'closed');
  const wrong: [string, string | null][] = [
    ['none', null],
    ['empty', 'pmsf_'],
    ['of a deleted execution', ofGone],
    ['of a deleted workspace', ofClosed],
    ['expired', createFeedbackToken(cipher, { ...grant, expiresAt: new Date(Date.now() - 1) })],
    [
      'of an execution of another workspace',
      createFeedbackToken(cipher, { ...grant, subject: { executionId: parsePublicId('execution', theirs) ?? '' } }),
    ],
    ['of no execution', createFeedbackToken(cipher, { ...grant, subject: { executionId: newId() } })],
    ['by another key', createFeedbackToken(createCipher([randomBytes(32)]), grant)],
  ];
  // The body is not read.
  for (const [what, shown] of wrong)
    for (const body of [{ name: 'helpful', value: 1 }]) {
      const answer = await say(shown, body);
      expect([what, answer.status, answer.body]).toEqual([what, 401, INVALID]);
    }
  const unread = await say('pmsf_x', { nonsense: true });
  expect([unread.status, unread.body]).toEqual([401, INVALID]);
  expect(await scoresOf(id)).toEqual([]);
});

/** A forged token. */
function forge(token: string, index: number): string {
  const bytes = Buffer.from(token.slice('pmsf_'.length), 'base64url');
  switch (index % 6) {
    case 0: {
      // One bit is another.
      const at = randomInt(bytes.length);
      bytes.writeUInt8(bytes.readUInt8(at) ^ (1 << randomInt(8)), at);
      return `pmsf_${bytes.toString('base64url')}`;
    }
    case 1:
      return `pmsf_${bytes.subarray(0, randomInt(bytes.length)).toString('base64url')}`;
    case 2:
      return `pmsf_${Buffer.concat([bytes, randomBytes(1 + randomInt(40))]).toString('base64url')}`;
    case 3:
      return `pmsf_${randomBytes(bytes.length).toString('base64url')}`;
    case 4: {
      // The same bytes, written in another way.
      const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
      const last = alphabet[(alphabet.indexOf(token.at(-1) ?? '') + 1 + randomInt(63)) % 64] ?? '';
      return `${token.slice(0, -1)}${last}${['', '=', '==', '.', ' '][randomInt(5)]}`;
    }
    default: {
      // The signature of one for another.
      const other = Buffer.concat([bytes.subarray(0, 32), randomBytes(bytes.length - 32)]);
      return `pmsf_${other.toString('base64url')}`;
    }
  }
}

test('none of 10,000 forged, altered or expired tokens is accepted', async () => {
  const { cipher } = service.dependencies;
  const id = await run();
  await define('tone/warm', 'boolean');
  const { token } = await tokenFor(id, { names: ['helpful', 'tone/warm'], expires_in: 2_592_000 });
  const grant = readFeedbackToken(cipher, token);
  if (grant === undefined) throw new Error('The token is not valid.');
  const tokens = Array.from({ length: 10_000 }, (_, index) =>
    index % 7 === 0
      ? createFeedbackToken(cipher, { ...grant, expiresAt: new Date(Date.now() - randomInt(1, 1_000_000_000)) })
      : forge(token, index),
  ).filter((forged) => forged !== token);
  expect(tokens.length).toBeGreaterThan(9_900);
  expect(tokens.filter((forged) => readFeedbackToken(cipher, forged) !== undefined)).toEqual([]);
  const overHttp = tokens.slice(0, 400).filter((forged) => /^[\x21-\x7e]+$/.test(forged));
  for (let at = 0; at < overHttp.length; at += 20) {
    const answers = await Promise.all(
      overHttp.slice(at, at + 20).map((forged) => say(forged, { name: 'helpful', value: 1 })),
    );
    expect(answers.filter(({ status }) => status !== 401)).toEqual([]);
  }
  expect(await scoresOf(id)).toEqual([]);
});
