import { context, ROOT_CONTEXT, type SpanContext, SpanKind, type SpanOptions, trace } from '@opentelemetry/api';
import type { WorkflowClientInterceptor } from '@temporalio/client';
import type { ActivityInterceptorsFactory } from '@temporalio/worker';
import { inSpan, tracer } from './spans.ts';
import { currentTraceparent, parseTraceparent } from './traceparent.ts';

/** Workflows whose input has a `traceparent`, which they pass on. */
const TRACED = new Set(['executePrompt', 'evaluationRun']);

/** A span for each start of a workflow; the workflow gets it as `traceparent`. */
export const traceStarts: WorkflowClientInterceptor = {
  startWithDetails(input, next) {
    const { workflowType, options } = input;
    const attributes = { 'temporal.workflow.type': workflowType, 'temporal.workflow.id': options.workflowId };
    const span = tracer.startSpan(`StartWorkflow:${workflowType}`, { kind: SpanKind.CLIENT, attributes });
    const [given, ...others] = options.args;
    return inSpan(span, () => {
      const traceparent = TRACED.has(workflowType) ? currentTraceparent() : undefined;
      if (traceparent === undefined) return next(input);
      const args = [{ ...(given as object), traceparent }, ...others];
      return next({ ...input, options: { ...options, args } });
    });
  },
};

/** Steps that begin a trace where they belong to none, since they call models or receivers. Others would be a trace of one span each. */
const WITH_CALLS = new Set(['runBatch', 'scoreDue', 'attemptDelivery']);

/** The steps of an execution have its trace as their last argument: they run in that of its caller. */
const parentOf = (args: readonly unknown[]): SpanContext | undefined => parseTraceparent(args.at(-1));

/** The batches of an evaluation have it in their input. A trace of all of them would be too large, so they link to it. */
function linkOf([input]: readonly unknown[]): SpanContext | undefined {
  const isInput = typeof input === 'object' && input !== null && 'traceparent' in input;
  return isInput ? parseTraceparent(input.traceparent) : undefined;
}

/** A span for each run of an activity that belongs to a trace, or calls others. */
export const traceActivities: ActivityInterceptorsFactory = ({ info }) => ({
  inbound: {
    execute(input, next) {
      const [parent, link] = [parentOf(input.args), linkOf(input.args)];
      if (parent === undefined && !WITH_CALLS.has(info.activityType)) return next(input);
      const options: SpanOptions = {
        attributes: {
          'temporal.activity.type': info.activityType,
          'temporal.activity.attempt': info.attempt,
          'temporal.workflow.id': info.workflowExecution?.workflowId ?? '',
        },
        ...(link !== undefined && { links: [{ context: link }] }),
      };
      const from = parent === undefined ? ROOT_CONTEXT : trace.setSpanContext(ROOT_CONTEXT, parent);
      const span = tracer.startSpan(`RunActivity:${info.activityType}`, options, from);
      return context.with(from, () => inSpan(span, () => next(input)));
    },
  },
});
