import { existsSync, globSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from '@jest/globals';
import { CAPABILITIES, expiredBy } from '../../src/capabilities.ts';
import { OWNERSHIP } from '../../src/db/tables.ts';
import { DECLARATIONS } from '../../src/domain/capabilities.ts';
import { type Declaration, event, merge } from '../../src/domain/capability.ts';
import { ID_PREFIXES } from '../../src/domain/ids.ts';
import { COUNTS } from '../../src/services/workspaces/quota-list.ts';

const declarations: readonly Declaration[] = DECLARATIONS;
const names = (list: readonly { name: string }[]) => list.map(({ name }) => name).sort();
const sorted = (list: Iterable<string>) => [...new Set(list)].sort();

/** Their rows go with those of a parent, by `on delete cascade`. */
const CASCADE = [
  'prompt_labels',
  'dataset_examples',
  'rule_judgements',
  'rule_backfills',
  'provider_batches',
  'monitor_changes',
  'schedule_occurrences',
];
/** Moved out of sight as a whole; `sweep` deletes their rows. */
const TRASHED = ['evaluations', 'dataset_versions'];
/** Deleted by ending them: Temporal, or the receiver, is notified first. */
const ENDED = ['webhooks', 'schedules'];

test('each capability is declared and does something, under one name', () => {
  expect(names(CAPABILITIES)).toEqual(names(DECLARATIONS));
  expect(new Set(names(DECLARATIONS)).size).toBe(DECLARATIONS.length);
});

test('every folder of the API and of services belongs to one capability, or to all', () => {
  const shared = ['acceptance', 'idempotency', 'operations', 'reconciliation', 'search', 'streams'];
  const own = declarations.flatMap(({ folders = [] }) => folders);
  const folders = sorted(globSync('src/{api,services}/*/').map((folder) => path.basename(folder)));
  expect(
    folders.filter((folder) => ![...own, ...shared].includes(folder) && !names(declarations).includes(folder)),
  ).toEqual([]);
  expect([...own, ...shared].filter((folder) => !folders.includes(folder))).toEqual([]);
  expect(new Set(own).size).toBe(own.length);
});

test('rows of every table of a workspace are deleted with it', () => {
  const ofWorkspaces = [...OWNERSHIP].filter(([, { kind }]) => kind === 'workspace').map(([table]) => table);
  const deleted = CAPABILITIES.flatMap(({ rows = [] }) => rows.map(({ table }) => table));
  expect(new Set(deleted).size).toBe(deleted.length);
  const gone: string[] = [...deleted, ...CASCADE, ...TRASHED, ...ENDED];
  expect(ofWorkspaces.filter((table) => !gone.includes(table))).toEqual([]);
});

test('every kind of id belongs to one capability', () => {
  const kinds = declarations.flatMap(({ ids = [] }) => ids);
  expect([...kinds].sort()).toEqual(Object.keys(ID_PREFIXES).sort());
});

test('the sample of every event fits its schema', () => {
  for (const { events = {} } of declarations)
    for (const { data, sample } of Object.values(events)) expect(data.parse(sample)).toEqual(sample);
});

test('every action audited when the log is full is an action of its capability', () => {
  for (const { audit = {}, auditedWhenFull = [] } of declarations)
    expect(Object.keys(audit)).toEqual(expect.arrayContaining([...auditedWhenFull]));
});

test('every quota is counted in the database, or by the process that holds the data', () => {
  const inProcess = ['uploads', 'streams'];
  const quotas = declarations.flatMap((each) => Object.keys(each.quotas ?? {}));
  expect(sorted([...Object.keys(COUNTS), ...inProcess])).toEqual(sorted(quotas));
  const settings = declarations.flatMap((each) => Object.values(each.quotas ?? {}).map(({ setting }) => setting));
  expect(new Set(settings).size).toBe(settings.length);
});

test('data with retention settings is deleted by it', () => {
  const kept = declarations.flatMap((each) => Object.keys(each.retention ?? {}));
  const unlimited = expiredBy({ events: 1 }).length;
  for (const name of kept.filter((each) => each !== 'events'))
    expect(expiredBy({ events: 1, [name]: 1 })).toHaveLength(unlimited + 1);
});

test('every guide exists', () => {
  for (const guide of declarations.flatMap((each) => Object.keys(each.guides ?? {})))
    expect(existsSync(new URL(`../../docs/${guide}.md`, import.meta.url))).toBe(true);
});

test('job names are unique', () => {
  const jobs = CAPABILITIES.flatMap((each) => each.jobs?.({ db: {} } as never) ?? []);
  expect(new Set(names(jobs)).size).toBe(jobs.length);
  expect(jobs.length).toBeGreaterThan(15);
});

test('capabilities with equal declarations are refused', () => {
  const [one] = declarations;
  expect(() => merge([one, one] as Declaration[], 'tags')).toThrow('Two capabilities declare the same tags.');
  expect(event.length).toBe(2);
});
