import { expect, test } from '@jest/globals';
import { linesOf } from '../../../src/models/batches/lines.ts';
import { modelErrorOf } from '../../support/providers/models.ts';

const linesIn = (pieces: string[], maxBytes?: number) => {
  const chunks = (async function* () {
    for (const piece of pieces) yield Buffer.from(piece, 'latin1');
  })();
  return Array.fromAsync(linesOf(chunks, maxBytes));
};
const bytes = (text: string) => Buffer.from(text).toString('latin1');

test('lines are whole, whatever the pieces', async () => {
  const text = bytes('{"a":"ä€😀"}\r\n\n{"b":1}');
  const lines = ['{"a":"ä€😀"}', '{"b":1}'];
  for (let size = 1; size <= text.length; size += 1) {
    const pieces = Array.from({ length: Math.ceil(text.length / size) }, (_, at) =>
      text.slice(at * size, (at + 1) * size),
    );
    expect(await linesIn(pieces)).toEqual(lines);
  }
});

test('lines longer than a response are left out', async () => {
  expect(await linesIn(['{"a"', ':1}\n"', 'x'.repeat(20), 'y"\n{"b":2}\n'], 10)).toEqual(['{"a":1}', '{"b":2}']);
});

test('truncated lines are a temporary error', async () => {
  expect(await modelErrorOf(linesIn(['{"a":1}\n{"b"']))).toMatchObject({
    code: 'model_unavailable',
    retryable: true,
  });
  expect(await linesIn(['{"a":1}\nno JSON\n'])).toEqual(['{"a":1}', 'no JSON']);
});
