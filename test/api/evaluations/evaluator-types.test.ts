import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { EvaluatorConfig } from '../../../src/evaluators/registry.ts';
import { startTestService, type TestService } from '../../support/service.ts';

interface Option {
  title?: string;
  enum?: string[];
  'x-enumDescriptions'?: Record<string, string>;
}
interface EvaluatorType {
  type: string;
  title: string;
  description: string;
  options: { type: string; properties: Record<string, Option>; required: string[]; additionalProperties: boolean };
}

let service: TestService;
let types: EvaluatorType[];
beforeAll(async () => {
  service = await startTestService({}, { workers: false });
  const { status, body } = await service.call('GET', '/evaluators');
  expect([status, body.next_cursor]).toEqual([200, null]);
  types = body.data;
});
afterAll(() => service?.stop());

test('every type is listed, with text for each option and each value', () => {
  expect(types.map(({ type }) => type)).toEqual(EvaluatorConfig.options.map(({ shape }) => shape.type.value));
  expect(new Set(types.map(({ title }) => title)).size).toBe(types.length);
  for (const { type, description, options } of types) {
    expect([type, description]).toEqual([type, expect.stringMatching(/^[A-Z].+\.$/)]);
    for (const [name, option] of Object.entries(options.properties)) {
      expect([type, name, option.title]).toEqual([type, name, expect.stringMatching(/^[A-Z]/)]);
      expect([type, name, Object.keys(option['x-enumDescriptions'] ?? {})]).toEqual([type, name, option.enum ?? []]);
    }
  }
});

test.each<[string, object, boolean]>([
  ['exact_match', {}, true],
  ['exact_match', { trim: 'yes' }, false],
  ['exact_match', { no_such_option: true }, false],
  ['contains', { values: ['a'], mode: 'any' }, true],
  ['contains', { mode: 'some' }, false],
  ['regex', { pattern: 'a' }, true],
  ['regex', {}, false],
  ['json_schema', { schema: {} }, true],
  ['json_schema', { schema: [] }, false],
  ['latency', { at_most_ms: 0 }, false],
  ['llm_judge', { model: 'sandbox/echo', rubric: 'Friendly.', scale: { min: 0, max: 3 } }, true],
  ['llm_judge', { model: 'sandbox/echo', rubric: 'Friendly.', scale: { min: 0 } }, false],
  ['pairwise', { model: 'sandbox/echo', rubric: 'Friendlier.' }, true],
  ['pairwise', { model: 'sandbox/echo' }, false],
])('the schema of %s judges %j as POST /evaluations does', async (type, options, fits) => {
  const ajv = new Ajv2020({ strict: false });
  expect(ajv.validate(types.find((each) => each.type === type)?.options ?? false, options)).toBe(fits);
  await service.call('POST', '/prompts', { body: { name: 'p', template: '{{ x }}', model: 'sandbox/echo' } });
  const { status } = await service.call('POST', '/evaluations/estimate', {
    body: { prompt_name: 'p', examples: [{ variables: { x: 'x' } }], evaluators: [{ type, ...options }] },
  });
  expect(status).toBe(fits ? 200 : 400);
});
