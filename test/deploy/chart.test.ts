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

/** The value at a path in values.yaml. */
function defaultOf(name: string): unknown {
  return name.split('.').reduce<unknown>((at, part) => (at as Record<string, unknown>)[part], values);
}

describe('the chart', () => {
  test('has a default for each value in its schema, and no other', () => {
    const known = pathsOfSchema(schema, '').filter((each) => each !== 'global');
    expect(pathsOf(values, schema, '').sort()).toEqual(known.sort());
  });

  const rows = [...read('README.md').matchAll(/^\| (`.*?) \| (.*?) \|/gm)].map(([, names = '', shown = '']) => ({
    names: [...names.matchAll(/`(.+?)`/g)].map(([, name = '']) => name),
    shown,
  }));

  test('has a page with every value', () => {
    expect(rows.flatMap(({ names }) => names).sort()).toEqual(pathsOf(values, schema, '').sort());
  });

  test.each(rows.filter(({ shown }) => shown.startsWith('`')))('has the documented default for $names', (row) => {
    for (const name of row.names) expect(`\`${String(defaultOf(name))}\``).toBe(row.shown);
  });

  test.each(rows.filter(({ shown }) => shown.startsWith('none')))('has no default for $names', (row) => {
    for (const name of row.names) expect([defaultOf(name)].flat().join()).toMatch(/^(\[object Object\])?$/);
  });

  test('names settings that exist', () => {
    const settings = readFileSync(path.join(PROJECT, 'docs/settings.md'), 'utf8');
    const named = ['configmap.yaml', '_helpers.tpl', 'worker.yaml', 'api.yaml'].flatMap((file) => [
      ...[...read(`templates/${file}`).matchAll(/^ {2}([A-Z_]+): /gm)].map(([, name]) => name),
      ...[...read(`templates/${file}`).matchAll(/"([A-Z]+_[A-Z_]+|HOST|PORT)"/g)].map(([, name]) => name),
    ]);
    expect(named).toContain('SHUTDOWN_GRACE');
    expect(named).toContain('TEMPORAL_TASK_QUEUE_PREFIX');
    expect(named.filter((name) => !settings.includes(`\`${name}\``))).toEqual([]);
  });

  test('has the version of the service', () => {
    const { version } = JSON.parse(readFileSync(path.join(PROJECT, 'package.json'), 'utf8'));
    expect(parse(read('Chart.yaml'))).toMatchObject({ version, appVersion: version });
  });
});
