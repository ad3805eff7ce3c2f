import { z } from 'zod';
import { ApiError, temporarilyUnavailable } from '../../domain/errors.ts';
import { MAX_PROTOBUF_BYTES } from '../../domain/traces/limits.ts';
import type { Refusal } from '../../domain/traces/otlp/read-request.ts';
import { exportResponse, OTLP_MEDIA_TYPES } from '../../domain/traces/otlp/responses.ts';
import { isRefusal, readSteps } from '../../domain/traces/read-steps.ts';
import type { Step } from '../../domain/traces/step.ts';
import { droppedBy, isSampled, type TracePolicy } from '../../domain/traces/trace-policy.ts';
import { defineRoute, RawResponse, type Route } from '../../http/route.ts';
import { shown } from '../../http/unread.ts';
import { afterOthers, createPace } from '../../lib/event-loop.ts';
import { createFairSemaphore } from '../../lib/fair-semaphore.ts';
import { type IngestDeps, ingestSteps } from '../../services/traces/ingest-steps.ts';
import { createMasker, keptOf, readTracePolicy } from '../../services/traces/trace-policy.ts';
import { encodingOf, plainBody } from './otlp-body.ts';
import { otlpErrors } from './otlp-errors.ts';
import { otlpBodies } from './samples.ts';

/** Requests that a process reads and stores at a time; one per workspace. */
const TURNS = 2;
/** Most exporters wait for ten seconds. */
const MAX_WAIT_MS = 10_000;
/** The maximum age of an execution. */
const MAX_AGE_MS = 365 * 24 * 60 * 60_000;

/** Only the documented fields: others are read as well. */
const OtlpRequest = z
  .looseObject({
    resourceSpans: z
      .array(z.record(z.string(), z.unknown()))
      .meta({ description: 'Spans by resource and scope, as in OTLP/JSON.' }),
  })
  .meta({ id: 'ExportTraceServiceRequest' });

/** Turns a timeout into an error that exporters retry. */
const isAwaited = (signal: AbortSignal) => (error: unknown) => {
  if (signal.aborted) throw temporarilyUnavailable('Too many requests with traces are waiting.', error);
  throw error;
};

/** @throws ApiError `invalid_request` if it is not a request with spans */
async function readAll(
  body: Buffer,
  encoding: ReturnType<typeof encodingOf>,
  { retentionMs, policy }: { retentionMs: number; policy: TracePolicy },
) {
  const now = Date.now();
  const read = readSteps(body, encoding, {
    now,
    oldest: now - Math.min(retentionMs, MAX_AGE_MS),
    drops: policy.drop_attributes.length === 0 ? undefined : droppedBy(policy),
    isSampled: (id) => isSampled(policy, id),
  });
  if ('fault' in read) throw new ApiError('invalid_request', read.fault);
  await afterOthers(body.length);
  const mask = createMasker(policy);
  const steps: Step[] = [];
  const refused: Refusal[] = [];
  const pace = createPace();
  for (const each of read.steps) {
    if (each !== null && isRefusal(each)) refused.push(each);
    else if (each !== null) {
      const kept = await keptOf(each, policy, mask);
      if (kept !== null) steps.push(kept);
    }
    await pace();
  }
  if (steps.length === 0 && refused.length > 0 && refused.every(({ hasIds }) => !hasIds))
    throw new ApiError(
      'invalid_request',
      `No span of the request can be read. ${refused[0]?.id}: ${refused[0]?.reason}`,
    );
  return { steps, refused };
}

/** `POST /traces`: the OpenTelemetry protocol. */
export function ingestRoute(deps: IngestDeps & { retentionMs: number }): Route {
  const turns = createFairSemaphore({ total: TURNS, perKey: 1 });
  return defineRoute({
    method: 'post',
    path: '/traces',
    aliases: ['/v1/otel/v1/traces', '/api/public/otel/v1/traces'],
    operationId: 'ingestTraces',
    audit: 'none',
    tag: 'Traces',
    summary: 'Store spans in the protocol of OpenTelemetry (OTLP/HTTP)',
    description:
      'For exporters: set `OTEL_EXPORTER_OTLP_ENDPOINT` to the address of the service and `OTEL_EXPORTER_OTLP_HEADERS` to ' +
      '`Authorization=Bearer%20<API_KEY>`. A 200 means that the spans are stored. The same span again changes nothing. Spans of model calls become ' +
      'recorded executions. Also at `/v1/otel/v1/traces` and `/api/public/otel/v1/traces`, and with the key as password of Basic authentication.',
    scope: ['ingest', 'execute'],
    basicAuth: true,
    binary: OtlpRequest,
    body: z.instanceof(Buffer),
    maxBodyBytes: MAX_PROTOBUF_BYTES,
    accepts: Object.values(OTLP_MEDIA_TYPES),
    bodyExamples: otlpBodies,
    response: z
      .object({
        partialSuccess: shown(
          z.object({ rejectedSpans: z.string(), errorMessage: z.string() }).optional().meta({
            description: 'Set if some spans, or scores that they report, were refused. All others are stored.',
          }),
        ),
      })
      .meta({ id: 'ExportTraceServiceResponse' }),
    responseExample: {},
    otherContentTypes: [OTLP_MEDIA_TYPES.protobuf],
    errorFormat: otlpErrors,
    errors: ['payload_too_large', 'quota_exceeded'],
    async handler(request) {
      const { db, body: raw, signal } = request;
      const encoding = encodingOf(request.header('Content-Type'));
      const waited = AbortSignal.any([signal, AbortSignal.timeout(MAX_WAIT_MS)]);
      const release = await turns.acquire(db.workspaceId, { signal: waited }).catch(isAwaited(waited));
      try {
        const body = await plainBody(raw, { encoding, compression: request.header('Content-Encoding') });
        const policy = await readTracePolicy(db.query);
        const { steps, refused } = await readAll(body, encoding, { ...deps, policy });
        const warnings = await ingestSteps(deps, db, steps);
        return new RawResponse(OTLP_MEDIA_TYPES[encoding], exportResponse(refused, warnings, encoding));
      } finally {
        release();
      }
    },
  });
}
