import { SpanKind } from '@opentelemetry/api';
import type { Outbound, OutboundRequest } from '../outbound/outbound.ts';
import { attributesOf, inSpan, markFailed, OUR, tracer } from './spans.ts';

/** Where a request goes. Addresses of receivers may hold secrets beyond that. */
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
  });
}

/** The same client, with a span for each request. Receivers are other people's: they are sent nothing of the trace. */
export function traceOutbound(outbound: Outbound): Outbound {
  return {
    post(request) {
      const span = tracer.startSpan('POST', { kind: SpanKind.CLIENT, attributes: attributesOfRequest(request) });
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
