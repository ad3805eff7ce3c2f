import { expect, test } from '@jest/globals';
import { inParts } from '../../src/db/recordset.ts';

const rowOf = (id: number, chars: number) => JSON.stringify({ id, text: 'x'.repeat(chars) });
const partsOf = (rows: readonly string[]) =>
  [...inParts(rows)].map((part) => ({ bytes: part.length, rows: JSON.parse(part.toString()) }));

test('rows are sent in parts of a bounded size, in their order', () => {
  const rows = Array.from({ length: 700 }, (_, id) => rowOf(id, 4_000));
  const parts = partsOf(rows);
  expect(parts.flatMap((part) => part.rows)).toEqual(rows.map((row) => JSON.parse(row)));
  expect(parts.length).toBeGreaterThan(3);
  for (const { bytes } of parts) expect(bytes).toBeLessThan(600 * 1024);
});

test('a row larger than a part is one of its own, and no rows are no part', () => {
  const rows = [rowOf(1, 10), rowOf(2, 1024 * 1024), rowOf(3, 10)];
  expect(partsOf(rows).map((part) => part.rows.map(({ id }: { id: number }) => id))).toEqual([[1], [2], [3]]);
  expect(partsOf([])).toEqual([]);
});
