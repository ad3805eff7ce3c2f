import { expect, test } from '@jest/globals';
import { adaptForGenerators } from '../../src/http/openapi-generators.ts';

/** The rewritten schemas of a document. */
function schemasOf(schemas: object, paths: object = {}): Record<string, object> {
  const document = { paths, components: { schemas: structuredClone(schemas) as Record<string, object> } };
  adaptForGenerators(document);
  const again = structuredClone(document);
  adaptForGenerators(again);
  expect(again).toEqual(document);
  return document.components.schemas;
}

const ref = (name: string) => ({ $ref: `#/components/schemas/${name}` });
const text = { type: 'string' };
const object = (name: string, schema: object = text) => ({ type: 'object', properties: { [name]: schema } });

test('nullable schemas are named by position, and equal ones share a name', () => {
  const author = object('key_id');
  const nullable = { anyOf: [author, { type: 'null' }] };
  expect(schemasOf({ Draft: object('made_by', nullable), Copy: object('owner', nullable) })).toEqual({
    Draft: object('made_by', { anyOf: [ref('DraftMadeBy'), { type: 'null' }] }),
    Copy: object('owner', { anyOf: [ref('DraftMadeBy'), { type: 'null' }] }),
    DraftMadeBy: author,
  });
});

test('members of a union are named by type, also in lists', () => {
  const step = (type: string) => ({ type: 'object', properties: { type: { type: 'string', const: type } } });
  const list = { type: 'array', items: { oneOf: [step('wait'), step('run_all')] } };
  expect(schemasOf({ Steps: list })).toEqual({
    Steps: { type: 'array', items: { oneOf: [ref('StepWait'), ref('StepRunAll')] } },
    StepWait: step('wait'),
    StepRunAll: step('run_all'),
  });
});

test('existing components are referenced', () => {
  const known = object('code');
  const schemas = schemasOf({ Known: known, Other: object('error', { anyOf: [known, { type: 'null' }] }) });
  expect(schemas).toEqual({ Known: known, Other: object('error', { anyOf: [ref('Known'), { type: 'null' }] }) });
});

test('several types, and a union in a union, are one union', () => {
  const value = { description: 'Any.', type: ['number', 'string', 'null'] };
  const nested = { anyOf: [{ anyOf: [text, { type: 'number' }], description: 'Inner.' }, { type: 'null' }] };
  expect(schemasOf({ Score: object('value', value), Nested: object('value', nested) })).toEqual({
    Score: object('value', { description: 'Any.', anyOf: [{ type: 'number' }, text, { type: 'null' }] }),
    Nested: object('value', { description: 'Inner.', anyOf: [text, { type: 'number' }, { type: 'null' }] }),
  });
});

test('a body that is not JSON is binary, and a title becomes a description', () => {
  const paths = {
    '/files': {
      put: { operationId: 'putFile', requestBody: { content: { 'text/csv': { schema: { ...text } } } }, responses: {} },
    },
  };
  schemasOf({}, paths);
  const document = { paths, components: { schemas: { A: { title: 'Cost', type: 'string' } } } };
  adaptForGenerators(document);
  expect(document.paths['/files'].put.requestBody.content['text/csv'].schema).toEqual({ ...text, format: 'binary' });
  expect(document.components.schemas.A).toEqual({ type: 'string', description: 'Cost' });
});

test('two schemas with the same name are refused', () => {
  const unions = object('part', { anyOf: [object('a'), object('b')] });
  expect(() => schemasOf({ File: unions })).toThrow('FilePartOption');
});
