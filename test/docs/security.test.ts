import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from '@jest/globals';
import { z } from 'zod';
import { PROJECT } from '../support/processes.ts';

const read = (file: string) => readFileSync(path.join(PROJECT, file), 'utf8');

/** The tests that prove each protection, by the threat as docs/security.md states it, and by file. */
const threats = z
  .record(z.string(), z.record(z.string(), z.array(z.string())))
  .parse(JSON.parse(read('test/docs/threats.json')));
const references = Object.values(threats).flatMap((files) =>
  Object.entries(files).flatMap(([file, names]) => names.map((name) => ({ file, name }))),
);
const listed = [...(read('docs/security.md').split('## Threats')[1] ?? '').matchAll(/^\| (.+?) \| .+ \|$/gm)].flatMap(
  ([, threat = '']) => (threat === 'threat' ? [] : [threat]),
);

test('every threat has tests', () => {
  expect(references.length).toBeGreaterThan(100);
  expect(Object.keys(threats).sort()).toEqual(listed.sort());
});

test.each(references)('$file has the test "$name"', ({ file, name }) => {
  expect(read(file).replaceAll("\\'", "'")).toContain(name);
});

test.each(
  [...read('docs/security.md').matchAll(/`((?:models|temporal|activities|outbound)\/[\w./-]*)`/g)].map(
    ([, file = '']) => file,
  ),
)('src/%s is there', (file) => {
  expect(() => readFileSync(path.join(PROJECT, 'src', file))).not.toThrow(/ENOENT/);
});

/** The scopes documented for an operation. */
function documented(operation: string): string[] {
  const table = read('docs/security.md').split('## Scopes')[1]?.split('\nBeside the table')[0] ?? '';
  return [...table.matchAll(/^\| (?<needs>[^|]+) \| (?<operations>[^|]+) \|$/gm)].flatMap(({ groups }) => {
    const { needs = '', operations = '' } = groups ?? {};
    return operations.includes(`\`${operation}\``) ? [needs] : [];
  });
}

const described = z
  .object({ paths: z.record(z.string(), z.record(z.string(), z.object({ description: z.string() }))) })
  .transform(({ paths }) =>
    Object.entries(paths).flatMap(([at, methods]) =>
      Object.entries(methods).map(([method, { description }]) => ({
        operation: `${method.toUpperCase()} ${at}`,
        description,
      })),
    ),
  )
  .parse(JSON.parse(read('openapi.json')));

test.each(described)('the scopes of $operation are in docs/security.md', ({ operation, description }) => {
  const [, needs = ''] = /Needs a key with the scope (.+?)\.(?: |\n|$)/.exec(description) ?? [];
  const expected = needs.replace(', and with ', ' and ');
  if (/Needs a key with any scopes/.test(description)) expect(documented(operation)).toEqual(['any scope']);
  else if (/Send the key in the body/.test(description)) expect(documented(operation)).toEqual(['a key in the body']);
  else if (/Needs no key, but a token/.test(description)) expect(documented(operation)).toEqual(['a feedback token']);
  else if (/Needs no key\. /.test(description)) expect(documented(operation)).toEqual(['nothing']);
  else if (/Needs a console session/.test(description)) expect(documented(operation)).toEqual(['a session']);
  else if (operation.startsWith('GET ') && needs === '`read`') expect(documented(operation)).toEqual([]);
  else expect(documented(operation)).toEqual([expected]);
});
