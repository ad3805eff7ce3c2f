import { ROOT_CONTEXT, SpanKind, type SpanOptions, trace } from '@opentelemetry/api';
import { parseTraceparent } from '../lib/traceparent.ts';
import type { Outbound, OutboundCause, OutboundRequest } from '../outbound/outbound.ts';
import { attributesOf, inSpan, markFailed, OUR, tracer } from './spans.ts';

/** The target server only: the rest of a receiver's address may be secret. */
function serverOf(url: string) {
  const parsed = URL.parse(url);
  if (parsed === null) return {};
  const port = parsed.port === '' ? (parsed.protocol === 'https:' ? 443 : 80) : Number(parsed.port);
  return { 'server.address': parsed.hostname, 'server.port': port };
}

function attributesOfRequest({ url, headers }: OutboundRequest) {
  return attributesOf({
    'http.request.method': 'POST',
    ...serverOf(url),
    [OUR.event]: headers['X-Event-Id'],
    [OUR.delivery]: headers['X-Delivery-Id'],
    [OUR.attempt]: headers['X-Delivery-Attempt'] === undefined ? undefined : Number(headers['X-Delivery-Attempt']),
  });
}

/** Continues the trace of the cause if known, otherwise the current one. */
function startSpan(options: SpanOptions, cause: OutboundCause | undefined) {
  const span = parseTraceparent(cause?.traceparent);
  if (span === undefined) return tracer.startSpan('POST', options);
  return cause?.isAnew
    ? tracer.startSpan('POST', { ...options, links: [{ context: span }] }, ROOT_CONTEXT)
    : tracer.startSpan('POST', options, trace.setSpanContext(ROOT_CONTEXT, span));
}

/** Wraps a client with a span for each request. Receivers are third parties, so requests do not carry the trace. */
export function traceOutbound(outbound: Outbound): Outbound {
  return {
    post(request) {
      const span = startSpan({ kind: SpanKind.CLIENT, attributes: attributesOfRequest(request) }, request.cause);
      const post = async () => {
        const result = await outbound.post(request);
        if (result.status !== null) span.setAttribute('http.response.status_code', result.status);
        if (result.error !== null) markFailed(span, String(result.status ?? '_OTHER'), result.error);
        return result;
      };
      return inSpan(span, post);
    },
    close: () => outbound.close(),
  };
}
