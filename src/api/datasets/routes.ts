import { z } from 'zod';
import type { Idempotency } from '../../http/idempotency.ts';
import { decodeCursor, toPage } from '../../http/pagination.ts';
import { defineRoute, type Route } from '../../http/route.ts';
import { createFromExecutions } from '../../services/datasets/create-from-executions.ts';
import { getDataset, listDatasets, listDatasetVersions } from '../../services/datasets/datasets.ts';
import { deleteDataset } from '../../services/datasets/delete-dataset.ts';
import type { Uploads } from '../../services/datasets/upload-examples.ts';
import type { Quotas } from '../../services/workspaces/quotas.ts';
import { parseCsv } from './csv.ts';
import { examplesPage } from './examples-page.ts';
import { exportDataset } from './export.ts';
import { parseJsonLines } from './json-lines.ts';
import { presentDataset } from './presenter.ts';
import {
  Dataset,
  DatasetName,
  DatasetPage,
  ExamplePage,
  ExamplesQuery,
  ExportQuery,
  FromExecutions,
  ListQuery,
  NameParams,
  UploadQuery,
  VersionQuery,
} from './schema.ts';
import { withUpload } from './upload-body.ts';

export interface DatasetRouteDeps {
  idempotency: Idempotency;
  quotas: Quotas;
  uploads: Uploads;
}

const tag = 'Datasets';

const example = {
  name: 'support/greetings',
  version: 1,
  examples_total: 2,
  hash: 'sha256:0f5b9d2b6f0c4a7d1e8a3c5b7d9e1f20315a4b6c8d0e2f4a6b8c0d2e4f60718a',
  description: null,
  created_at: '2026-01-31T12:00:00.000Z',
  updated_at: '2026-01-31T12:00:00.000Z',
  version_created_at: '2026-01-31T12:00:00.000Z',
};
const exampleExample = {
  seq: 0,
  key: 'greeting-1',
  id: 'greeting-1',
  variables: { name: 'Ada' },
  expected: 'Hello Ada!',
};

const UPLOAD_DESCRIPTION = `Streams JSON Lines or CSV, in UTF-8, up to 256 MiB and 1,000,000 examples. Each upload is a new version;
a line that is wrong is a 400 with its number, and nothing is stored.

JSON Lines: one object a line, at most 1 MiB: \`{"id": "greeting-1", "variables": {"name": "Ada"}, "expected": "Hello Ada!", "metadata": {"source": "support"}}\`.
Only \`variables\` is required.

CSV: a header row with \`id\`, \`expected\`, \`metadata.x\`, and the variables as \`x\` or \`variables.x\`; every value is text.
An empty cell is an empty text for a variable and nothing elsewhere.`;

/** `/datasets` and what is under it. */
export function datasetRoutes({ idempotency, quotas, uploads }: DatasetRouteDeps): Route[] {
  return [
    defineRoute({
      method: 'get',
      path: '/datasets',
      operationId: 'listDatasets',
      tag,
      summary: 'List datasets by name, each with its latest version',
      scope: 'read',
      query: ListQuery,
      response: DatasetPage,
      responseExample: { data: [example], next_cursor: null },
      async handler({ db, query }) {
        const page = await listDatasets(db, query.limit, decodeCursor(query.cursor, DatasetName));
        return toPage(page, presentDataset, (row) => row.name);
      },
    }),
    defineRoute({
      method: 'get',
      path: '/datasets/{name}/versions',
      operationId: 'listDatasetVersions',
      tag,
      summary: 'List the versions of a dataset, newest first',
      scope: 'read',
      params: NameParams,
      query: ListQuery,
      response: DatasetPage,
      responseExample: { data: [example], next_cursor: null },
      async handler({ db, params, query }) {
        const before = decodeCursor(query.cursor, z.string().regex(/^\d{1,9}$/));
        const below = before === undefined ? undefined : Number(before);
        const page = await listDatasetVersions(db, params.name, query.limit, below);
        return toPage(page, presentDataset, (row) => String(row.version));
      },
    }),
    defineRoute({
      method: 'get',
      path: '/datasets/{name}/examples',
      operationId: 'listDatasetExamples',
      tag,
      summary: 'List the examples of a version in order',
      description:
        'A page ends before its limit where the examples are large. The cursor stays in the version it came from.',
      scope: 'read',
      params: NameParams,
      query: ExamplesQuery,
      response: ExamplePage,
      responseExample: { data: [exampleExample], next_cursor: null },
      handler: ({ db, params, query }) => examplesPage(db, params.name, query),
    }),
    defineRoute({
      method: 'get',
      path: '/datasets/{name}/export',
      operationId: 'exportDataset',
      tag,
      summary: 'Download a version as JSON Lines or CSV',
      description: 'What JSON Lines give, uploaded again, is the same version by its hash.',
      scope: 'read',
      params: NameParams,
      query: ExportQuery,
      response: z.string(),
      responseExample: '{"id":"greeting-1","variables":{"name":"Ada"},"expected":"Hello Ada!"}\n',
      alsoAnswers: ['application/x-ndjson', 'text/csv'],
      handler: async ({ db, params, query }) =>
        exportDataset(db, await getDataset(db.query, params.name, query.version), query.format),
    }),
    defineRoute({
      method: 'post',
      path: '/datasets/{name}/from-executions',
      operationId: 'createDatasetFromExecutions',
      tag,
      summary: 'Make a version of recorded executions',
      description:
        'Each execution that matches is an example: its variables, its output as what is expected, its id as the id. ' +
        'Oldest first.',
      scope: 'write',
      status: 201,
      idempotent: true,
      params: NameParams,
      body: FromExecutions,
      bodyExamples: { 'Completed runs of a prompt': { prompt_name: 'support/greeting', limit: 1000 } },
      response: Dataset,
      responseExample: example,
      handler: (request) =>
        idempotency.createOnce(request, async (query) => {
          const { prompt_name: promptName, execution_ids: executionIds, ...selection } = request.body;
          const row = await createFromExecutions(query, quotas, request.params.name, {
            promptName,
            executionIds,
            ...selection,
          });
          return { resourceId: row.examples_id, response: presentDataset(row) };
        }),
    }),
    defineRoute({
      method: 'get',
      path: '/datasets/{name}',
      operationId: 'getDataset',
      tag,
      summary: 'Read a dataset: its latest version, or the one asked for',
      scope: 'read',
      params: NameParams,
      query: VersionQuery,
      response: Dataset,
      responseExample: example,
      handler: async ({ db, params, query }) => presentDataset(await getDataset(db.query, params.name, query.version)),
    }),
    defineRoute({
      method: 'put',
      path: '/datasets/{name}',
      operationId: 'uploadDataset',
      tag,
      summary: 'Upload the next version of a dataset, or the first of a new one',
      description: UPLOAD_DESCRIPTION,
      scope: 'write',
      params: NameParams,
      query: UploadQuery,
      body: 'stream',
      accepts: ['application/x-ndjson', 'application/jsonl', 'text/csv'],
      response: Dataset,
      responseExample: example,
      errors: ['payload_too_large'],
      handler: async ({ db, params, query, stream, signal }) =>
        presentDataset(
          await withUpload(stream, (format, bytes) =>
            uploads.store(db, {
              name: params.name,
              examples: format === 'csv' ? parseCsv(bytes) : parseJsonLines(bytes),
              description: query.description,
              signal,
            }),
          ),
        ),
    }),
    defineRoute({
      method: 'delete',
      path: '/datasets/{name}',
      operationId: 'deleteDataset',
      tag,
      summary: 'Delete a dataset with all its versions and examples',
      description:
        'Results of evaluations stay. An upload to this name makes a new dataset, whose version numbers go on.',
      scope: 'write',
      params: NameParams,
      response: Dataset,
      responseExample: example,
      errors: ['invalid_state'],
      handler: async ({ db, params }) => presentDataset(await deleteDataset(db, params.name)),
    }),
  ];
}
