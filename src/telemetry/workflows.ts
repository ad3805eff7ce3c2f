import { context, ROOT_CONTEXT, type SpanContext, SpanKind, type SpanOptions, trace } from '@opentelemetry/api';
import type { WorkflowClientInterceptor } from '@temporalio/client';
import type { ActivityInterceptorsFactory } from '@temporalio/worker';
import { currentTraceparent, parseTraceparent } from '../lib/traceparent.ts';
import { inSpan, tracer } from './spans.ts';

/** Workflows whose input has a `traceparent`, which they pass on. */
const TRACED = new Set(['executePrompt', 'evaluationRun', 'providerBatch']);

/**
 * A span for each start of a workflow that is traced or part of a trace; the workflow gets it as `traceparent`. Others, such as a
 * delivery started by the relay, would be traces of one span each.
 */
export const traceStarts: WorkflowClientInterceptor = {
  startWithDetails(input, next) {
    const { workflowType, options } = input;
    const isTraced = TRACED.has(workflowType);
    if (!isTraced && trace.getSpanContext(context.active()) === undefined) return next(input);
    const attributes = { 'temporal.workflow.type': workflowType, 'temporal.workflow.id': options.workflowId };
    const span = tracer.startSpan(`StartWorkflow:${workflowType}`, { kind: SpanKind.CLIENT, attributes });
    const [given, ...others] = options.args;
    return inSpan(span, () => {
      const traceparent = isTraced ? currentTraceparent() : undefined;
      if (traceparent === undefined) return next(input);
      const args = [{ ...(given as object), traceparent }, ...others];
      return next({ ...input, options: { ...options, args } });
    });
  },
};

/** Steps that start a trace if they belong to none, because they call models or scorers. Others would be traces of one span each. */
const WITH_CALLS = new Set(['runBatch', 'scoreDue']);
/**
 * Steps of a trace without a span: they only keep records, or are retried for hours. The operations inside them may have spans.
 */
const WITHOUT_SPAN = new Set(['planBatches', 'finishEvaluation', 'advanceBatch', 'cleanUpBatch']);

/** The steps of an execution and of a provider batch have the trace as their last argument. */
const lastOf = (args: readonly unknown[]): SpanContext | undefined => parseTraceparent(args.at(-1));

/** The steps of an evaluation have it in their input. */
function inputOf([input]: readonly unknown[]): SpanContext | undefined {
  const isInput = typeof input === 'object' && input !== null && 'traceparent' in input;
  return isInput ? parseTraceparent(input.traceparent) : undefined;
}

/** A span for each run of an activity that belongs to a trace or calls models or scorers. */
export const traceActivities: ActivityInterceptorsFactory = ({ info }) => ({
  inbound: {
    execute(input, next) {
      const { activityType } = info;
      const [last, ofInput] = [lastOf(input.args), inputOf(input.args)];
      if (WITHOUT_SPAN.has(activityType)) {
        const span = last ?? ofInput;
        return span === undefined
          ? next(input)
          : context.with(trace.setSpanContext(ROOT_CONTEXT, span), next, undefined, input);
      }
      if (last === undefined && !WITH_CALLS.has(activityType)) return next(input);
      const options: SpanOptions = {
        attributes: {
          'temporal.activity.type': activityType,
          'temporal.activity.attempt': info.attempt,
          'temporal.workflow.id': info.workflowExecution?.workflowId ?? '',
        },
        // A single trace for all batches of an evaluation would be too large.
        ...(ofInput !== undefined && { links: [{ context: ofInput }] }),
      };
      const from = last === undefined ? ROOT_CONTEXT : trace.setSpanContext(ROOT_CONTEXT, last);
      const span = tracer.startSpan(`RunActivity:${activityType}`, options, from);
      return context.with(from, () => inSpan(span, () => next(input)));
    },
  },
});
