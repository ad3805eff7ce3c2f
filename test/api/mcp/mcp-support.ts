import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import type { TestService } from '../../support/service.ts';

/** Revisions of the protocol: the current one and the previous one, which has a handshake. */
export const REVISIONS = ['2026-07-28', '2025-11-25'] as const;
export type Revision = (typeof REVISIONS)[number];

/** The response of a tool. `body` is its structured result: `{result, cut, note}` or `{error}`. */
export interface ToolAnswer {
  isError: boolean;
  // Untyped: tests assert the shape of responses themselves.
  // biome-ignore lint/suspicious/noExplicitAny: see above
  body: any;
  text: string;
}

/** A client of the official SDK, connected over HTTP. */
export interface McpStage {
  client: Client;
  tool(name: string, given?: Record<string, unknown>): Promise<ToolAnswer>;
  /** The result of a tool that worked. @throws Error otherwise */
  // biome-ignore lint/suspicious/noExplicitAny: see above
  result(name: string, given?: Record<string, unknown>): Promise<any>;
  /** Names of the tools that were called. */
  called: Set<string>;
  close(): Promise<void>;
}

export async function connect(
  { origin, key }: Pick<TestService, 'origin' | 'key'>,
  revision: Revision = '2026-07-28',
): Promise<McpStage> {
  const client = new Client(
    { name: 'tests', version: '1' },
    { versionNegotiation: { mode: revision === '2026-07-28' ? { pin: revision } : 'legacy' } },
  );
  const transport = new StreamableHTTPClientTransport(new URL('/mcp', origin), {
    requestInit: { headers: { Authorization: `Bearer ${key}` } },
  });
  await client.connect(transport);
  const called = new Set<string>();
  async function tool(name: string, given: Record<string, unknown> = {}): Promise<ToolAnswer> {
    called.add(name);
    const { content, structuredContent, isError = false } = await client.callTool({ name, arguments: given });
    const [first] = content;
    return { isError, body: structuredContent, text: first?.type === 'text' ? first.text : '' };
  }
  return {
    client,
    called,
    tool,
    async result(name, given) {
      const { isError, body } = await tool(name, given);
      if (isError) throw new Error(`${name}: ${JSON.stringify(body)}`);
      return body.result;
    },
    close: () => client.close(),
  };
}

/** Sends a message unchanged. */
export function post(
  { origin, key }: Pick<TestService, 'origin' | 'key'>,
  body: string | Uint8Array<ArrayBuffer>,
  headers: Record<string, string> = {},
  query = '',
): Promise<Response> {
  return fetch(`${origin}/mcp${query}`, {
    method: 'POST',
    headers: {
      Authorization: `Bearer ${key}`,
      'Content-Type': 'application/json',
      Accept: 'application/json, text/event-stream',
      ...headers,
    },
    body,
  });
}

/** A message of the revision with an optional handshake. */
export const message = (method: string, params: object = {}, id: number | string = 1) =>
  JSON.stringify({ jsonrpc: '2.0', id, method, params });
