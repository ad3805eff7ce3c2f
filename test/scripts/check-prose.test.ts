import { expect, test } from '@jest/globals';
import { oddOfComments, oddOfPage, oddOfTexts } from '../../scripts/prose.ts';

const ODD = [
  'What is not in the file is left out.',
  'How many examples were read.',
  'Whoever has the key can read it.',
  'The item goes back to the queue, so that nobody waits.',
  'A caller that repeats the request gets the response anew.',
  'The run goes on.',
  'The label moves by releases alone.',
  'Null where the model has no price.',
  'The webhook is told of the change.',
  'is no list of messages',
  'A scorer of your own',
  'Takes the place of the default.',
  'The version that was asked for is archived.',
  '`--draft` is set: leave it out',
  'Of the prompt. Default: the latest.',
  'The address can not be reached.',
  'The old key works as it was.',
  'is not needed any more',
];

const GOOD = [
  'What should I do if a run fails?',
  'The release continues until all checks pass.',
  'Null if the model has no known price.',
  'Of the 12 checks, 3 failed. Of course you can repeat them.',
  'Leave the database as it is, and restart the service.',
  'The model was asked to answer in JSON.',
  'There is no limit. It is no longer available.',
  'The host name cannot be looked up.',
  'One of the workers stopped; the first one that responds is used.',
  'Go on to the next step.',
  'You can run several evaluations at once.',
  'Set `null where` in the query.',
];

test.each(ODD)('finds odd text: %s', async (text) => {
  expect(await oddOfTexts([text])).not.toHaveLength(0);
});

test('accepts good sentences', async () => {
  expect(await oddOfTexts(GOOD)).toEqual([]);
  expect(await oddOfPage(GOOD.join('\n\n'))).toEqual([]);
});

test('names the line of a page and the number of a text', async () => {
  const page =
    '# What is tested\n\nFine. The run goes\non.\n\n```\nanew\n```\n\nUse `anew`.\n\nThe queue is read anew.\n';
  expect((await oddOfPage(page)).map(({ line }) => line)).toEqual([3, 12]);
  expect((await oddOfTexts(['Fine.', 'is read anew', 'Fine.'])).map(({ line }) => line)).toEqual([2]);
});

test('accepts comments that open like questions, and finds other odd ones', async () => {
  expect(await oddOfComments(['How long a call may take.', 'What a release measured.'])).toEqual([]);
  expect(await oddOfComments(['Null: no limit.', 'Null: any.', 'A queue of its own.'])).toMatchObject([
    { line: 2 },
    { line: 3 },
  ]);
});

test('ignores placeholders of texts', async () => {
  expect(await oddOfTexts(['It ends at {anew}.'])).toEqual([]);
});

test('ignores text between its comments', async () => {
  expect(await oddOfPage('<!-- textlint-disable -->\n\nIt is read anew.\n\n<!-- textlint-enable -->\n')).toEqual([]);
});
