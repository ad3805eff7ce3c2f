import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { parse } from 'yaml';
import { PROJECT } from '../support/processes.ts';

const chart = path.join(PROJECT, 'deploy/helm/prompt-management-service');
const read = (file: string) => readFileSync(path.join(chart, file), 'utf8');

interface Schema {
  type?: string | string[];
  properties?: Record<string, Schema>;
}
const values: object = parse(read('values.yaml'));
const schema: Schema = JSON.parse(read('values.schema.json'));

/** Paths of all values, as far down as the schema names them. */
function pathsOf(value: unknown, of: Schema | undefined, at: string): string[] {
  if (of?.properties === undefined || typeof value !== 'object' || value === null) return [at];
  return Object.entries(value).flatMap(([name, each]) =>
    pathsOf(each, of.properties?.[name], at === '' ? name : `${at}.${name}`),
  );
}
function pathsOfSchema(of: Schema, at: string): string[] {
  if (of.properties === undefined) return [at];
  return Object.entries(of.properties).flatMap(([name, each]) =>
    pathsOfSchema(each, at === '' ? name : `${at}.${name}`),
  );
}

describe('the chart', () => {
  test('has a default for each value that its schema knows, and knows each default', () => {
    const known = pathsOfSchema(schema, '').filter((each) => each !== 'global');
    expect(pathsOf(values, schema, '').sort()).toEqual(known.sort());
  });

  test.each(Object.keys(values))('explains %s', (name) => {
    expect(read('README.md')).toContain(`\`${name}`);
  });

  test('sets settings that exist', () => {
    const settings = readFileSync(path.join(PROJECT, 'docs/settings.md'), 'utf8');
    const named = [...read('templates/configmap.yaml').matchAll(/^ {2}([A-Z_]+): /gm)].map(([, name = '']) => name);
    const refused = [...read('templates/_helpers.tpl').matchAll(/"([A-Z][A-Z_]{3,})"/g)].map(([, name = '']) => name);
    const exempt = ['ALL', '_API_KEY'];
    const unknown = [...named, ...refused].filter(
      (name) => !settings.includes(`\`${name}\``) && !exempt.includes(name),
    );
    expect(named.length).toBeGreaterThan(5);
    expect(unknown.filter((name) => name !== 'TEMPORAL_PAYLOAD_KEYS')).toEqual([]);
  });

  test('has the version of the service', () => {
    const { version } = JSON.parse(readFileSync(path.join(PROJECT, 'package.json'), 'utf8'));
    expect(parse(read('Chart.yaml'))).toMatchObject({ version, appVersion: version });
  });
});
