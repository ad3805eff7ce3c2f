import { afterEach, beforeEach, expect, jest, test } from '@jest/globals';
import { ConnectionError, NotFoundError, Pms, type PmsOptions } from '../../clients/typescript/src/index.ts';

// How a client is created, and what it does if nothing responds. No service is needed.

const SECRET = 'pms_secret_0123456789';
const baseUrl = 'http://127.0.0.1:9';

const thrownBy = async (work: () => unknown): Promise<Error> => {
  try {
    await work();
  } catch (error) {
    return error as Error;
  }
  throw new Error('It throws nothing.');
};
/** Everything about an error that a log could show. */
const shown = (error: Error) => `${error.stack} ${JSON.stringify(error)} ${String(error.cause)}`;

test.each([SECRET, `  ${SECRET}\r\n`, () => `${SECRET}\n`, async () => `\t${SECRET}`])(
  'a key is sent without surrounding white space (%#)',
  async (apiKey) => {
    const sent: (string | null)[] = [];
    const pms = new Pms({
      baseUrl,
      apiKey,
      fetch: async (_url, init) => {
        sent.push(new Headers(init?.headers).get('Authorization'));
        return Response.json({});
      },
    });
    await pms.me.get();
    expect(sent).toEqual([`Bearer ${SECRET}`]);
  },
);

test.each([`${SECRET}\n${SECRET}`, `${SECRET} x`, `“${SECRET}”`, `${SECRET}\u0000x`, `${SECRET}é`])(
  'a key that no header can hold is refused without showing it (%#)',
  async (apiKey) => {
    const errors = [
      await thrownBy(() => new Pms({ baseUrl, apiKey })),
      await thrownBy(() => new Pms({ baseUrl, apiKey: () => apiKey }).me.get()),
    ];
    for (const error of errors) {
      expect(error).toBeInstanceOf(TypeError);
      expect(error.message).toContain('Copy the key again');
      expect(shown(error)).not.toContain(SECRET);
    }
  },
);

test.each(['', ' \n'])('an empty key is refused (%j)', (apiKey) => {
  expect(() => new Pms({ baseUrl, apiKey })).toThrow('The API key is empty. Set apiKey or PMS_API_KEY');
});

test.each([
  'localhost:3000',
  '127.0.0.1:3000',
  'prompts.example.com',
  '//x',
  'ftp://x',
  'http://',
  'https://a b',
  'http://x?y=1',
])('a baseUrl that is not a URL is refused at once (%s)', (wrong) => {
  expect(() => new Pms({ baseUrl: wrong, apiKey: SECRET })).toThrow('must be an http or https URL');
});

test('a baseUrl with a password is refused without showing it', async () => {
  const error = await thrownBy(() => new Pms({ baseUrl: 'https://me:hunter2@x.test', apiKey: SECRET }));
  expect(error.message).toContain('without a user, password');
  expect(shown(error)).not.toContain('hunter2');
});

test.each([' http://x.test ', 'http://x.test/', 'http://x.test/v1', 'http://x.test/v1/\n'])(
  'white space and /v1 do not matter (%j)',
  async (given) => {
    const urls: string[] = [];
    const pms = new Pms({
      baseUrl: given,
      apiKey: null,
      fetch: async (url, init) => {
        urls.push(url instanceof Request ? url.url : url.toString());
        expect(new Headers(init?.headers).has('Authorization')).toBe(false);
        return Response.json({});
      },
    });
    await pms.me.get();
    expect(urls).toEqual(['http://x.test/v1/me']);
  },
);

const { warn } = console;
let warned: unknown[];
beforeEach(() => {
  warned = [];
  console.warn = (line) => void warned.push(line);
});
afterEach(() => {
  console.warn = warn;
  jest.useRealTimers();
});

/** Advances fake time, and lets settled promises continue. */
async function advance(timeMs: number): Promise<void> {
  jest.advanceTimersByTime(timeMs);
  for (let count = 0; count < 50; count++) await Promise.resolve();
}

const away: Partial<PmsOptions> = { fetch: () => Promise.reject(new TypeError('fetch failed')) };

test('a prompt without a fallback is given up after seconds, with one line at the first failure', async () => {
  jest.useFakeTimers();
  const pms = new Pms({ baseUrl, apiKey: SECRET, ...away });
  const began = Date.now();
  let error: unknown;
  const getting = pms.prompts.get('a').catch((caught) => {
    error = caught;
  });
  await advance(0);
  expect(warned).toEqual([expect.stringContaining('pms-client: prompts cannot be fetched: POST http://127.0.0.1:9')]);
  while (error === undefined) await advance(100);
  await getting;
  expect(error).toBeInstanceOf(ConnectionError);
  expect(Date.now() - began).toBeLessThanOrEqual(6_000);
  expect(warned).toHaveLength(1);
});

test('a service that accepts requests without responding is given up, too', async () => {
  jest.useFakeTimers();
  const silent: typeof fetch = (_url, init) =>
    new Promise((_resolve, reject) => init?.signal?.addEventListener('abort', () => reject(init.signal?.reason)));
  const pms = new Pms({ baseUrl, apiKey: SECRET, fetch: silent });
  let error: unknown;
  const getting = pms.prompts.get('a').catch((caught) => {
    error = caught;
  });
  const began = Date.now();
  while (error === undefined) await advance(100);
  await getting;
  expect(error).toMatchObject({ message: expect.stringContaining('no response within 5000 ms') });
  expect(Date.now() - began).toBeLessThanOrEqual(16_000);
});

test('an outage is one line, however many fallbacks are used; a missing prompt is none', async () => {
  let isAway = true;
  const pms = new Pms({
    baseUrl,
    apiKey: SECRET,
    fetch: async () => {
      if (isAway) throw new TypeError('fetch failed');
      return Response.json({ data: [{ error: { code: 'not_found', message: 'There is no such prompt.' } }] });
    },
  });
  const get = () => pms.prompts.get('a', { fallback: 'x' });
  for (let count = 0; count < 5; count++) await get();
  expect(warned).toHaveLength(1);
  isAway = false;
  await get();
  await expect(pms.prompts.get('a')).rejects.toThrow(NotFoundError);
  expect(warned).toHaveLength(1);
  isAway = true;
  await get();
  expect(warned).toHaveLength(2);
});

test('onError replaces the line, and the time is an option', async () => {
  const errors: unknown[] = [];
  const pms = new Pms({
    baseUrl,
    apiKey: SECRET,
    ...away,
    cache: { timeoutMs: 1, onError: (error) => errors.push(error) },
  });
  await expect(pms.prompts.get('a')).rejects.toThrow(ConnectionError);
  expect([errors.length, warned]).toEqual([1, []]);
});
