import { expect, test } from '@jest/globals';
import { MAX_NAME_LENGTH, promptNameProblem } from '../../../src/domain/prompts/prompt-name.ts';

test.each([
  'a',
  'A-z_0.9',
  'a/b/c',
  '...',
  '.a',
  'a.',
  '-',
  'versions',
  'versions/a',
  'a/Versions',
  'a/xlabels',
  'x'.repeat(MAX_NAME_LENGTH),
])('%j is a name', (name) => expect(promptNameProblem(name)).toBeUndefined());

test.each<[string, string]>([
  ['', 'empty'],
  ['x'.repeat(MAX_NAME_LENGTH + 1), '200'],
  ['/', '"/"'],
  ['/a', '"/"'],
  ['a/', '"/"'],
  ['a//b', '"/"'],
  ['.', '".."'],
  ['..', '".."'],
  ['a/../b', '".."'],
  ['a/.', '".."'],
  ['a b', 'letters'],
  ['a\n', 'letters'],
  ['a\0', 'letters'],
  ['ä', 'letters'],
  ['a%2Fb', 'letters'],
  ['a?b', 'letters'],
  ['a\\b', 'letters'],
  ['a/versions', '"versions"'],
  ['a/labels/b', '"labels"'],
  ['versions/restore', '"restore"'],
])('%j is invalid, with a reason', (name, reason) => expect(promptNameProblem(name)).toContain(reason));
