import { z } from 'zod';
import type { Query, WorkspaceDatabase } from '../../db/database.ts';
import { invalidField } from '../../domain/errors.ts';
import type { CsvForm } from '../../domain/text/csv-form.ts';
import type { Idempotency } from '../../http/idempotency.ts';
import { decodeCursor, encodeCursor, toPage } from '../../http/pagination.ts';
import { resource } from '../../http/resource.ts';
import { defineRoute, type Route } from '../../http/route.ts';
import { addExamples } from '../../services/datasets/add-examples.ts';
import { createFromExecutions } from '../../services/datasets/create-from-executions.ts';
import { createFromScores } from '../../services/datasets/create-from-scores.ts';
import { getDataset, listDatasets, listDatasetVersions } from '../../services/datasets/datasets.ts';
import { deleteDataset } from '../../services/datasets/delete-dataset.ts';
import { storeExamples } from '../../services/datasets/inline-examples.ts';
import {
  EXAMINED_EXAMPLES,
  readExamples,
  type ShownExample,
  searchExamples,
} from '../../services/datasets/read-examples.ts';
import type { Uploads } from '../../services/datasets/upload-examples.ts';
import type { Quotas } from '../../services/workspaces/quotas.ts';
import { toExecutionFilter } from '../executions/filter-schema.ts';
import { parseCsv } from './csv.ts';
import { exportDataset } from './export.ts';
import { parseJsonLines } from './json-lines.ts';
import { presentChange, presentDataset } from './presenter.ts';
import { datasetSample, exampleSample, lineSample, UPLOAD_DESCRIPTION } from './samples.ts';
import {
  AddExamples,
  Dataset,
  DatasetChange,
  DatasetName,
  DatasetPage,
  ExamplePage,
  ExamplesQuery,
  ExportQuery,
  FromExecutions,
  FromScores,
  ListQuery,
  NameParams,
  UploadQuery,
  VersionQuery,
} from './schema.ts';
import { withUpload } from './upload-body.ts';

/** `version seq`: paging stays in the version it started with. */
const Position = z.string().regex(/^[1-9]\d{0,8} [1-9]\d{0,8}$/);

/**
 * A page of a version's examples, optionally only examples that contain the text `q`; it ends early if they are large.
 * @throws ApiError `not_found`, `invalid_request`
 */
async function examplesPage(
  db: WorkspaceDatabase,
  name: string,
  { version, q, limit, cursor }: z.output<typeof ExamplesQuery>,
) {
  const [begun, seq = 0] = decodeCursor(cursor, Position)?.split(' ').map(Number) ?? [];
  if (begun !== undefined && version !== undefined && begun !== version)
    throw invalidField('cursor', `belongs to version ${begun}: omit version, or pass that version`);
  const dataset = await getDataset(db.query, name, version ?? begun);
  const { examples_id: id, examples_total: total } = dataset;
  const page = (data: ShownExample[], next: number) => ({
    data,
    next_cursor: next < total ? encodeCursor(`${dataset.version} ${next}`) : null,
  });
  if (q !== undefined) {
    const { examples, next } = await searchExamples(db.heavy.query, id, q, seq, limit);
    return page(examples, next);
  }
  const examples = await readExamples(db.query, id, seq, limit);
  return page(examples, (examples.at(-1)?.seq ?? total) + 1);
}

export interface DatasetRouteDeps {
  idempotency: Idempotency;
  quotas: Quotas;
  uploads: Uploads;
}

const tag = 'Datasets';

const routes = resource({
  tag,
  path: '/datasets',
  name: 'Dataset',
  params: NameParams,
  cursor: DatasetName,
  response: Dataset,
  page: DatasetPage,
  sample: datasetSample,
  present: presentDataset,
});

/** `/datasets` and its subpaths. */
export function datasetRoutes({ idempotency, quotas, uploads }: DatasetRouteDeps): Route[] {
  /** Copying examples holds a connection, so only a few requests do it at the same time. */
  const createInTurn = (
    request: Parameters<Idempotency['createOnce']>[0],
    create: (query: Query) => Promise<Parameters<typeof presentChange>[0]>,
  ) =>
    uploads.inTurn(request.db.workspaceId, () =>
      idempotency.createOnce(request, async (query) => {
        const change = await create(query);
        return { resourceId: change.row.examples_id, response: presentChange(change) };
      }),
    );
  return [
    routes.list({
      summary: 'List datasets by name, each with its latest version',
      query: ListQuery,
      read: ({ db, query: { limit } }, after) => listDatasets(db, limit, after),
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
      responseExample: { data: [datasetSample], next_cursor: null },
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
      summary: 'List the examples of a dataset version, in order',
      description:
        'A page of large examples may hold fewer than its limit. A cursor is valid only for the version it came from. With `q`, a page searches at most ' +
        `${EXAMINED_EXAMPLES.toLocaleString('en-US')} examples or about 4 MiB: it may hold fewer than its limit, or none, and still have a \`next_cursor\`.`,
      scope: 'read',
      params: NameParams,
      query: ExamplesQuery,
      response: ExamplePage,
      responseExample: { data: [exampleSample], next_cursor: null },
      handler: ({ db, params, query }) => examplesPage(db, params.name, query),
    }),
    defineRoute({
      method: 'get',
      path: '/datasets/{name}/export',
      operationId: 'exportDataset',
      tag,
      summary: 'Export a dataset version as JSON Lines or CSV',
      description: 'Uploading a JSON Lines export again creates a version with the same hash.',
      scope: 'read',
      params: NameParams,
      query: ExportQuery,
      response: z.string(),
      responseExample: lineSample,
      otherContentTypes: ['application/x-ndjson', 'text/csv'],
      handler: async ({ db, params, query }) =>
        exportDataset(db, await getDataset(db.query, params.name, query.version), query.format),
    }),
    defineRoute({
      method: 'post',
      path: '/datasets/{name}/from-executions',
      operationId: 'createDatasetFromExecutions',
      audit: ['dataset.created', 'dataset.updated'],
      tag,
      summary: 'Add executions to a dataset',
      description:
        'Each matching execution becomes an example with its variables, its output as `expected`, and its id, oldest first, in the next version of the ' +
        'dataset. Existing examples stay, unless `mode` is `replace`. An execution that is already an example is left unchanged. If all of them are, no ' +
        'version is created: `added` is 0, and the response is the latest version.',
      scope: 'write',
      status: 201,
      idempotent: true,
      params: NameParams,
      body: FromExecutions,
      bodyExamples: { 'Completed runs of a prompt': { prompt_name: 'support/greeting', limit: 1000 } },
      response: DatasetChange,
      responseExample: { ...datasetSample, added: 2, replaced: 0, unchanged: 0 },
      handler: (request) =>
        createInTurn(request, (query) => {
          const { execution_ids: executionIds, limit, expected, status, mode, ...filter } = request.body;
          return createFromExecutions(query, quotas, request.params.name, {
            ...toExecutionFilter(filter),
            status,
            executionIds,
            limit,
            expected,
            mode,
          });
        }),
    }),
    defineRoute({
      method: 'post',
      path: '/datasets/{name}/from-scores',
      operationId: 'createDatasetFromScores',
      audit: ['dataset.created', 'dataset.updated'],
      tag,
      summary: 'Add what people scored to a dataset, as examples for a judge',
      description:
        'Each execution or example of an evaluation that people scored becomes an example with the variables `input` and `output`, and the value that people ' +
        'agree on as `expected`: the most frequent category, or the median. Outputs on which they disagree are left out. A prompt that judges such outputs can be ' +
        'evaluated and improved like any other.',
      scope: 'write',
      status: 201,
      idempotent: true,
      params: NameParams,
      body: FromScores,
      bodyExamples: { 'What people found helpful': { score: 'helpful' } },
      response: DatasetChange,
      responseExample: { ...datasetSample, added: 2, replaced: 0, unchanged: 0 },
      errors: ['not_found'],
      handler: (request) =>
        createInTurn(request, (query) => createFromScores(query, quotas, request.params.name, request.body)),
    }),
    defineRoute({
      method: 'post',
      path: '/datasets/{name}/examples',
      operationId: 'addDatasetExamples',
      audit: ['dataset.created', 'dataset.updated'],
      tag,
      summary: 'Add examples to a dataset',
      description:
        'The next version of the dataset has its existing examples and these. An example whose `id` exists already replaces that example in its position; ' +
        'without an `id`, an example with the same variables and expectation counts as the same. If nothing changes, no version is created: `added` and `replaced` ' +
        'are 0, and the response is the latest version. A dataset that does not exist is created. For larger files, upload with `mode=add`.',
      scope: 'write',
      status: 201,
      idempotent: true,
      params: NameParams,
      body: AddExamples,
      bodyExamples: {
        'One example': { examples: [{ id: 'greeting-1', variables: { name: 'Ada' }, expected: 'Hello Ada!' }] },
      },
      response: DatasetChange,
      responseExample: { ...datasetSample, added: 1, replaced: 0, unchanged: 0 },
      handler: (request) =>
        createInTurn(request, async (query) => {
          const { examplesId } = await storeExamples(query, quotas, request.body.examples);
          return addExamples(query, quotas, request.params.name, examplesId);
        }),
    }),
    defineRoute({
      method: 'get',
      path: '/datasets/{name}',
      operationId: 'getDataset',
      tag,
      summary: 'Retrieve a dataset: its latest version by default',
      scope: 'read',
      params: NameParams,
      query: VersionQuery,
      response: Dataset,
      responseExample: datasetSample,
      handler: async ({ db, params, query }) => presentDataset(await getDataset(db.query, params.name, query.version)),
    }),
    defineRoute({
      method: 'put',
      path: '/datasets/{name}',
      operationId: 'uploadDataset',
      audit: ['dataset.created', 'dataset.updated'],
      tag,
      summary: 'Upload a dataset, or the next version of an existing one',
      description: UPLOAD_DESCRIPTION,
      scope: 'write',
      params: NameParams,
      query: UploadQuery,
      body: 'stream',
      accepts: ['application/x-ndjson', 'application/jsonl', 'text/csv', 'text/tab-separated-values'],
      response: DatasetChange,
      responseExample: datasetSample,
      errors: ['payload_too_large'],
      async handler(request) {
        const { db, params, query, stream, signal } = request;
        let form: CsvForm | undefined;
        const csv = (bytes: AsyncIterable<Buffer>) =>
          parseCsv(bytes, (found) => {
            form = found;
          });
        const stored = await withUpload(stream, (format, bytes) =>
          uploads.store(db, {
            name: params.name,
            examples: format === 'csv' ? csv(bytes) : parseJsonLines(bytes, (size) => request.turn(size)),
            description: query.description,
            mode: query.mode,
            signal,
          }),
        );
        return { ...presentChange(stored), delimiter: form?.delimiter };
      },
    }),
    routes.delete({
      summary: 'Delete a dataset, its versions and its examples',
      description:
        'Evaluation results are kept. Uploading to this name later creates a new dataset that continues the version numbers.',
      scope: 'write',
      audit: ['dataset.deleted'],
      errors: ['invalid_state'],
      remove: ({ db, params }) => deleteDataset(db, params.name),
    }),
  ];
}
