import { PENDING } from './attribute-names.ts';
import { MAX_AHEAD_MS } from './limits.ts';
import { type StepOrigin, stepOrigin, toStep } from './map-span.ts';
import { type OtlpEncoding, type OtlpOrigin, type Refusal, readRequest } from './otlp/read-request.ts';
import type { Step } from './step.ts';

const US = 1_000;

/** The spans of a request, one by one. */
export interface ReadSteps {
  /** The number of spans. */
  size: number;
  /**
   * A step, the reason why a span is refused, or null if there is nothing to store. Each is read on demand, so that the caller can let other
   * work run in between.
   */
  steps: Iterable<Step | Refusal | null>;
}

/** Which spans are read; times are milliseconds since 1970. */
export interface Times {
  now: number;
  /** Earlier steps would be deleted immediately. */
  oldest: number;
  /** Whether an attribute is ignored. */
  drops?: ((name: string) => boolean) | undefined;
  /** Whether a trace is stored, by its id. */
  isSampled?: ((traceId: string) => boolean) | undefined;
}

export const isRefusal = (read: Step | Refusal): read is Refusal => 'reason' in read;

/**
 * Reads the spans of an OTLP request as steps. Never throws, whatever was sent.
 * @param body decompressed
 * @returns the steps, or why the body is not such a request
 */
export function readSteps(body: Buffer, encoding: OtlpEncoding, times: Times): ReadSteps | { fault: string } {
  const request = readRequest(body, encoding);
  return 'fault' in request ? request : { size: request.size, steps: stepsOf(request.spans, times) };
}

function* stepsOf(
  spans: Exclude<ReturnType<typeof readRequest>, { fault: string }>['spans'],
  { now, oldest, drops, isSampled = () => true }: Times,
): Generator<Step | Refusal | null> {
  const origins = new WeakMap<OtlpOrigin, StepOrigin>();
  const [latest, earliest] = [(now + MAX_AHEAD_MS) * US, oldest * US];
  for (const read of spans) {
    if ('reason' in read) {
      yield read;
      continue;
    }
    const { span, origin } = read;
    const refuse = (reason: string): Refusal => ({ id: `${span.traceId}:${span.spanId}`, reason, hasIds: true });
    if (drops !== undefined)
      for (const attributes of [span.attributes, origin.resource, ...span.events.map((event) => event.attributes)])
        for (const name of attributes.keys()) if (drops(name)) attributes.delete(name);
    const known = origins.get(origin) ?? stepOrigin(origin);
    origins.set(origin, known);
    if (span.attributes.get(PENDING.attribute) === PENDING.value || !isSampled(span.traceId)) yield null;
    else if (span.startedAt > latest) yield refuse('it starts in the future: check the clock of the sender');
    else if (span.startedAt < earliest) yield refuse('it started before the retention period (TRACE_RETENTION)');
    else yield toStep({ ...span, endedAt: span.endedAt && Math.min(span.endedAt, latest) }, known);
  }
}
