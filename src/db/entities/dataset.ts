import { defineEntity, p } from '@mikro-orm/core';
import type { JsonValue } from '../../domain/text/json.ts';
import { storedBytes } from './stored-bytes.ts';
import { timestamp, workspaceOwned } from './workspace-owned.ts';

/** A named set of examples, which are in its versions. */
export const Dataset = defineEntity({
  name: 'Dataset',
  tableName: 'datasets',
  uniques: [{ properties: ['workspaceId', 'name'] }],
  properties: {
    ...workspaceOwned,
    name: p.text(),
    description: p.text().nullable(),
    latestVersion: p.integer(),
    createdAt: timestamp(),
    updatedAt: timestamp(),
  },
});

/**
 * One immutable set of examples. The inline examples of an evaluation are also one, without a dataset, so that there is only one
 * way to run examples.
 */
export const DatasetVersion = defineEntity({
  name: 'DatasetVersion',
  tableName: 'dataset_versions',
  uniques: [{ properties: ['dataset', 'version'] }],
  indexes: [
    { properties: ['workspaceId'] },
    {
      name: 'dataset_versions_alone_index',
      expression: `create index "dataset_versions_alone_index" on "dataset_versions" ("id") where "dataset_id" is null`,
    },
  ],
  properties: {
    ...workspaceOwned,
    dataset: () => p.manyToOne(Dataset).nullable().deleteRule('cascade'),
    /** From 1; 0 for inline examples. */
    version: p.integer(),
    examplesTotal: p.integer(),
    /** The size of its examples if it belongs to a dataset: for the quota. */
    bytes: p.bigint('number').default(0),
    /** SHA-256 over the examples, to compare sets. */
    hash: p.blob().$type<Buffer>(),
    createdAt: timestamp(),
  },
});

/**
 * One example of a version. `seq` counts from 0 without gaps. One upload may have a million: they have neither ids nor their own index,
 * which would halve the speed.
 */
export const DatasetExample = defineEntity({
  name: 'DatasetExample',
  tableName: 'dataset_examples',
  properties: {
    datasetVersion: () => p.manyToOne(DatasetVersion).deleteRule('cascade').primary(),
    seq: p.integer().primary(),
    workspaceId: workspaceOwned.workspaceId,
    /** The caller's id, or a hash of the content: matches examples of two runs. Unique in its version. */
    exampleKey: p.text(),
    variables: p.json<Record<string, JsonValue>>().columnType('jsonb'),
    /** JSON null if null is expected; SQL null if nothing is. */
    expected: p.json<JsonValue>().columnType('jsonb').nullable(),
    metadata: p.json<Record<string, JsonValue>>().columnType('jsonb').nullable(),
    bytes: storedBytes('example_key', 'variables::text', 'expected::text', 'metadata::text'),
  },
});
