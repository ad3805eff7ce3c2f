import { expect, test } from '@jest/globals';
import { v7 } from 'uuid';
import { ID_PREFIXES, idsOfSpan, newId, parsePublicId, publicId } from '../../src/domain/ids.ts';

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
])('%j is not an execution id', (text) => expect(parsePublicId('execution', text)).toBeUndefined());

test('the ids of a span cover its time, and no time a day before or after', () => {
  const day = 24 * 60 * 60_000;
  const { from, to } = idsOfSpan(new Date(Date.now() - 3_600_000), new Date(Date.now() + 3_600_000));
  const isInside = (id: string) => id >= from && id < to;
  expect(isInside(newId())).toBe(true);
  expect(isInside(v7({ msecs: Date.now() - day }))).toBe(false);
  expect(isInside(v7({ msecs: Date.now() + day }))).toBe(false);
  const all = idsOfSpan(undefined, undefined);
  for (const msecs of [0, Date.now(), Date.parse('9999-12-31T23:59:59.999Z')]) {
    const id = v7({ msecs });
    expect(id >= all.from && id < all.to).toBe(true);
  }
  // The earliest time that a caller can pass.
  expect(idsOfSpan(new Date('0001-01-01T00:00:00Z'), undefined).from).toBe(all.from);
});
