import { Pms, type PmsOptions } from '../../clients/typescript/src/index.ts';
import type { CannedAnswer } from '../support/providers/protocol.ts';
import type { TestService } from '../support/service.ts';

/** A request sent by a client. */
interface SentRequest {
  method: string;
  /** Under `/v1`. */
  path: string;
  headers: Headers;
  // Untyped: tests assert the shape of bodies themselves.
  // biome-ignore lint/suspicious/noExplicitAny: see above
  body: any;
}

/** A client of the service whose requests can be observed and dropped. */
export interface WatchedClient {
  pms: Pms;
  requests: SentRequest[];
  /** If it returns true, a request fails as if the service were down; if it returns a response, that is used. */
  fail: (request: SentRequest) => boolean | Response;
}

export function watchedClient(
  service: Pick<TestService, 'origin' | 'key'>,
  options: Partial<PmsOptions> = {},
): WatchedClient {
  const client: WatchedClient = {
    requests: [],
    fail: () => false,
    pms: new Pms({
      baseUrl: service.origin,
      apiKey: service.key,
      async fetch(url, init) {
        const { body } = init ?? {};
        const request = {
          method: init?.method ?? 'GET',
          path: new Request(url).url.slice(`${service.origin}/v1`.length),
          headers: new Headers(init?.headers),
          body: typeof body === 'string' && body.startsWith('{') ? JSON.parse(body) : body,
        };
        client.requests.push(request);
        const failure = client.fail(request);
        if (failure === true) throw new TypeError('fetch failed');
        return failure === false ? fetch(url, init) : failure;
      },
      ...options,
    }),
  };
  return client;
}

/** An answer that fits a request to OpenAI or Anthropic, without which frameworks complain of the response. */
export function answerFitting(request: Record<string, unknown> = {}): CannedAnswer {
  const { tools = [], tool_choice, response_format, output_config } = request as Record<string, never>;
  const [first] = (tools as { name?: string; function?: { name: string } }[]).toReversed();
  const chosen = tool_choice as string | { type?: string } | undefined;
  const isForced =
    first?.name === 'json' ||
    chosen === 'required' ||
    (typeof chosen === 'object' && !['auto', 'none'].includes(chosen.type ?? ''));
  if (isForced)
    return { text: '', toolCalls: [{ id: 'c', name: first?.name ?? first?.function?.name ?? '', input: {} }] };
  const format = response_format ?? (output_config as { format?: object } | undefined)?.format;
  return { text: format === undefined ? 'ok' : '{}' };
}
