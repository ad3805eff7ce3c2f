import path from 'node:path';
import { isObject, type Json, listOf, objectOf, textOf } from '../../json.ts';
import type { Report } from '../report.ts';
import { fileInside, readCsv, readData, readJsonLines } from '../source-files.ts';
import { assertFromText } from './assert-cells.ts';

/** A test and its location. */
export interface PlacedTest {
  test: Json;
  at: string;
}

/** Tests that are read on demand, possibly several times. */
export interface TestSource {
  read(): AsyncIterable<PlacedTest> | Iterable<PlacedTest>;
}

/** The test in a row of a CSV file: columns are variables, except those that start with two underscores. */
function testOfRow(row: Map<string, string>): Json {
  const vars: Json = {};
  const metadata: Json = {};
  const asserts: Json[] = [];
  const test: Json = { vars, metadata, assert: asserts };
  for (const [column, cell] of row) {
    if (!column.startsWith('__')) vars[column] = cell;
    else if (cell === '') continue;
    else if (/^__expected\d*$/.test(column)) asserts.push(assertFromText(cell));
    else if (column.startsWith('__metadata:')) metadata[column.slice('__metadata:'.length).replace(/\[\]$/, '')] = cell;
    else if (column === '__description') test['description'] = cell;
    else if (column === '__threshold') test['threshold'] = Number(cell);
    else if (column !== '__metric') test[column] = cell;
  }
  const metric = row.get('__metric');
  if (metric) for (const assert of asserts) assert['metric'] = metric;
  return test;
}

/** Finds the tests that a configuration names. Tests that can't be read are left out and reported. */
export async function findTests(tests: unknown, folder: string, report: Report): Promise<TestSource[]> {
  const sources: TestSource[] = [];
  const inline: PlacedTest[] = [];
  for (const [index, entry] of (Array.isArray(tests) ? tests : tests === undefined ? [] : [tests]).entries()) {
    if (isObject(entry) && entry['path'] === undefined) inline.push({ test: entry, at: `test ${index + 1}` });
    else {
      const named = textOf(isObject(entry) ? entry['path'] : entry) ?? '';
      const source = await testFile(named, folder);
      if (typeof source === 'string') report.leaveOut('tests', named, source);
      else sources.push(source);
    }
  }
  if (inline.length > 0) sources.unshift({ read: () => inline });
  return sources;
}

async function testFile(named: string, folder: string): Promise<TestSource | string> {
  const [, file = ''] = /^(?:file:\/\/)?(.*)$/s.exec(named) ?? [];
  const extension = path.extname(file).toLowerCase();
  if (/^[a-z]+:\/\//.test(file)) return 'it is not a file on this machine';
  if (file.includes('*')) return 'it is a pattern of file names: name the files';
  if (!['.csv', '.json', '.jsonl', '.yaml', '.yml'].includes(extension)) return 'it is a program that makes the tests';
  const found = await fileInside(folder, file);
  if (found === undefined) return 'there is no such file in the folder of the configuration';
  if (extension === '.csv')
    return {
      async *read() {
        for await (const { line, row } of readCsv(found)) yield { test: testOfRow(row), at: `${found.name}:${line}` };
      },
    };
  if (extension === '.jsonl')
    return {
      async *read() {
        for await (const { line, value } of readJsonLines(found))
          yield { test: objectOf(value), at: `${found.name}:${line}` };
      },
    };
  const tests = listOf(await readData(found)).map((test, index) => ({
    test: objectOf(test),
    at: `${found.name}, test ${index + 1}`,
  }));
  return { read: () => tests };
}
