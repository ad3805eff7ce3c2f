import { Readable } from 'node:stream';
import type { Transport } from '../../../cli/src/importers/api-workspace.ts';
import { RefusedError } from '../../../cli/src/importers/workspace.ts';

/** Reaches a service with a key by `fetch`. */
export function fetchTransport(origin: string, key: string): Transport {
  const call = async (method: string, target: string, { type, ...init }: RequestInit & { type?: string }) => {
    const headers = { Authorization: `Bearer ${key}`, ...(type !== undefined && { 'Content-Type': type }) };
    const response = await fetch(`${origin}/v1${target}`, { ...init, method, headers });
    if (response.ok) return response;
    const message = `${method} ${target}: ${await response.text()}`;
    throw response.status === 400 || response.status === 404 ? new RefusedError(message) : new Error(message);
  };
  return {
    async request(method, target, body) {
      const init = body === undefined ? {} : { body: JSON.stringify(body), type: 'application/json' };
      return (await call(method, target, init)).json();
    },
    async download(target) {
      const { body } = await call('GET', target, {});
      if (body === null) throw new Error('The answer has no body.');
      return body;
    },
    async upload(target, contentType, body) {
      const stream = Readable.toWeb(Readable.from(body, { objectMode: false })) as ReadableStream<Uint8Array>;
      return (await call('PUT', target, { body: stream, duplex: 'half', type: contentType })).json();
    },
  };
}
