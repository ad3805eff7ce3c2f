import { expect, test } from '@jest/globals';
import { ID_PREFIXES, newId, parsePublicId, publicId } from '../../src/domain/ids.ts';

test('ids are UUIDv7 and sort by the time they were made', () => {
  const ids = Array.from({ length: 1_000 }, newId);
  expect(ids.toSorted()).toEqual(ids);
  expect(new Set(ids).size).toBe(ids.length);
  for (const id of ids) expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
});

test('a public id names its kind and leads back to what is stored', () => {
  const id = newId();
  expect(publicId('execution', id)).toBe(`exec_${id}`);
  expect(parsePublicId('execution', `exec_${id}`)).toBe(id);
  expect(new Set(Object.values(ID_PREFIXES)).size).toBe(Object.keys(ID_PREFIXES).length);
});

test.each([
  '',
  'exec_',
  'x',
  'exec_x',
  `key_${newId()}`,
  newId(),
  `exec_${newId()} `,
  `exec_${newId().toUpperCase()}`,
  `exec_exec_${newId()}`,
  `exec_${newId()}\n`,
])('%j is no id of an execution', (text) => expect(parsePublicId('execution', text)).toBeUndefined());
