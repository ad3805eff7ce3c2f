import { z } from 'zod';
import { traceUuid } from '../../domain/ids.ts';
import { shortList } from '../../domain/text/json-object.ts';
import { SpanIdInput, TraceIdInput } from '../../http/fields.ts';
import type { Idempotency } from '../../http/idempotency.ts';
import { defineRoute, type Route } from '../../http/route.ts';
import type { Uploads } from '../../services/datasets/upload-examples.ts';
import { addTracesToDataset } from '../../services/traces/add-to-dataset.ts';
import type { Quotas } from '../../services/workspaces/quotas.ts';
import { presentChange } from '../datasets/presenter.ts';
import { datasetSample } from '../datasets/samples.ts';
import { DatasetChange, NameParams } from '../datasets/schema.ts';
import { traceSample } from './samples.ts';

const MAX_TRACES = 100;

const FromTraces = z
  .strictObject({
    traces: shortList(
      z.strictObject({
        trace_id: TraceIdInput,
        span_id: SpanIdInput.optional().meta({ description: 'Only this step. Default: the whole trace.' }),
      }),
      'traces',
      { min: 1, max: MAX_TRACES },
    ),
    expected: z
      .enum(['output', 'none'], 'must be output or none')
      .default('output')
      .meta({ description: 'The expected value of the examples: the output of the trace or step, or none.' }),
  })
  .meta({ id: 'DatasetFromTraces' });

/** `POST /datasets/{name}/from-traces` */
export function datasetFromTracesRoute({
  idempotency,
  quotas,
  uploads,
}: {
  idempotency: Idempotency;
  quotas: Quotas;
  uploads: Uploads;
}): Route {
  return defineRoute({
    method: 'post',
    path: '/datasets/{name}/from-traces',
    operationId: 'createDatasetFromTraces',
    audit: ['dataset.created', 'dataset.updated'],
    tag: 'Datasets',
    summary: 'Add traces, or steps of traces, to a dataset',
    description:
      'Each becomes an example with its input as the variable `input`, its output as `expected`, and its origin in `metadata`; a step that ran a ' +
      'prompt here has the variables of that run. The `id` is the trace id, or `TRACE_ID:SPAN_ID`: adding the same again replaces the example, and changes ' +
      'nothing if it is the same.',
    scope: 'write',
    status: 201,
    idempotent: true,
    params: NameParams,
    body: FromTraces,
    bodyExamples: { 'A trace': { traces: [{ trace_id: traceSample.id }] } },
    response: DatasetChange,
    responseExample: { ...datasetSample, added: 1, replaced: 0, unchanged: 0 },
    handler: (request) =>
      uploads.inTurn(request.db.workspaceId, () =>
        idempotency.createOnce(request, async (query) => {
          const { traces, expected } = request.body;
          const sources = traces.map(({ trace_id: id, span_id: spanId }) => ({ traceId: traceUuid(id), spanId }));
          const change = await addTracesToDataset(query, quotas, request.params.name, { sources, expected });
          return { resourceId: change.row.examples_id, response: presentChange(change) };
        }),
      ),
  });
}
