import { expect, test } from '@jest/globals';
import { testsOf } from '../../scripts/test-changed.ts';

test('a file of a capability reaches its own tests over HTTP, and no others', () => {
  const { tests, everywhere } = testsOf(['src/services/monitors/set-monitor.ts']);
  expect(tests).toEqual(
    expect.arrayContaining([
      'test/api/monitors/monitors.test.ts',
      'test/console/monitors.test.ts',
      'test/isolation/monitors.test.ts',
    ]),
  );
  expect(tests).not.toContain('test/api/prompts/prompts.test.ts');
  expect(everywhere).toEqual([]);
});

test('a shared file reaches its importers, and says so', () => {
  const { tests, everywhere } = testsOf(['src/domain/ids.ts']);
  expect(tests).toEqual(expect.arrayContaining(['test/domain/ids.test.ts', 'test/db/uuid-v7.test.ts']));
  expect(everywhere).toEqual(['src/domain/ids.ts']);
});

test('a stage reaches every test that uses it', () => {
  const { tests } = testsOf(['test/support/service.ts']);
  expect(tests).toEqual(expect.arrayContaining(['test/api/prompts/prompts.test.ts', 'test/api/rules/rules.test.ts']));
});

test('a page of the console reaches the tests of its capability, and the shell all of them', () => {
  expect(testsOf(['console/src/pages/queues/queue-page.tsx']).tests).toEqual(['test/console/queues.test.ts']);
  expect(testsOf(['console/src/main.tsx']).tests).toEqual(
    expect.arrayContaining(['test/console/queues.test.ts', 'test/console/story.test.ts']),
  );
});

test('a test file reaches itself', () => {
  expect(testsOf(['test/lib/none.test.ts', 'test/domain/ids.test.ts']).tests).toEqual(['test/domain/ids.test.ts']);
});
