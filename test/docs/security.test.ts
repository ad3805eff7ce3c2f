import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from '@jest/globals';
import { z } from 'zod';
import { PROJECT } from '../support/processes.ts';

const read = (file: string) => readFileSync(path.join(PROJECT, file), 'utf8');

/** What `docs/security.md` names: a file, and tests in it. */
const references = [
  ...read('docs/security.md').matchAll(/`(test\/[\w./-]+\.test\.ts)`: ((?:\*[^*]+\*(?:, )?)+)/g),
].flatMap(([, file = '', names = '']) => [...names.matchAll(/\*([^*]+)\*/g)].map(([, name = '']) => ({ file, name })));

test('there are references', () => expect(references.length).toBeGreaterThan(30));

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

/** What the section on scopes says of an operation: what its key needs, and what is left out. */
function documented(operation: string): string[] {
  const table = read('docs/security.md').split('## Scopes')[1]?.split('\nBeside the table')[0] ?? '';
  return [...table.matchAll(/^\| (?<needs>[^|]+) \| (?<operations>[^|]+) \|(?<hidden>[^|]*)\|$/gm)].flatMap(
    ({ groups }) => {
      const { needs = '', operations = '', hidden = '' } = groups ?? {};
      return operations.includes(`\`${operation}\``) ? [`${needs}: ${hidden.trim()}`] : [];
    },
  );
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
  const [, hidden = ''] = /hides stored data: (.+) (?:is|are) null or empty/.exec(description) ?? [];
  const expected = `${needs.replace(', and with ', ' and ')}: ${hidden}`;
  if (/Needs a key with any scopes/.test(description)) expect(documented(operation)).toEqual(['any scope: ']);
  else if (/Send the key in the body/.test(description)) expect(documented(operation)).toEqual(['a key in the body: ']);
  else if (/Needs no key, but a token/.test(description)) expect(documented(operation)).toEqual(['a feedback token: ']);
  else if (/Needs no key\. /.test(description)) expect(documented(operation)).toEqual(['nothing: ']);
  else if (/Needs a console session/.test(description)) expect(documented(operation)).toEqual(['a session: ']);
  else if (operation.startsWith('GET ') && needs === '`read`') expect(documented(operation)).toEqual([]);
  else expect(documented(operation)).toEqual([expected]);
});
