import http from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';

/** A response as its caller has it. */
export interface Answer {
  status: number;
  text: string;
}

export interface Asked {
  body?: unknown;
  /** In place of `body`, as it is. */
  raw?: string;
  headers?: Record<string, string>;
}

/** What all callers saw. */
export interface Seen {
  requests: number;
  byStatus: Record<number, number>;
  /** Requests that another process took, since the first one's port was closed. */
  refused: number;
  /** 5xx and broken connections: there should be none. */
  faults: string[];
  /** Streams that a process has ended since it was stopped, and that were read on in another. */
  streamsContinued: number;
}

const ENDS = /^event: execution\.(completed|failed|canceled)$/m;

/**
 * Spreads requests over processes in turns, as a load balancer does: a process that takes no connection is passed over, and nothing else is tried
 * again. Each request has a connection of its own.
 */
export class Balancer {
  readonly seen: Seen = { requests: 0, byStatus: {}, refused: 0, faults: [], streamsContinued: 0 };
  readonly #ports: number[];
  readonly #key: string;
  #next = 0;

  constructor(ports: number[], key: string) {
    this.#ports = ports;
    this.#key = key;
  }

  /** Calls `/v1` + path. @throws Error where the connection broke, which is a fault */
  async call(method: string, path: string, asked: Asked = {}): Promise<Answer> {
    this.seen.requests += 1;
    const first = this.#next++;
    for (let refusals = 0; ; refusals += 1) {
      const port = this.#ports[(first + refusals) % this.#ports.length] ?? 0;
      try {
        const answer = await this.#ask(port, method, path, asked);
        this.seen.byStatus[answer.status] = (this.seen.byStatus[answer.status] ?? 0) + 1;
        if (answer.status >= 500)
          this.seen.faults.push(`${method} ${path}: ${answer.status} ${answer.text.slice(0, 300)}`);
        return answer;
      } catch (error) {
        const isRefused = error instanceof Error && 'code' in error && error.code === 'ECONNREFUSED';
        if (isRefused && refusals < this.#ports.length - 1) {
          this.seen.refused += 1;
          continue;
        }
        this.seen.faults.push(`${method} ${path}: ${String(error)}`);
        throw error;
      }
    }
  }

  /** Runs a prompt and reads its stream to the end, in other processes where one ends it. @returns the text of all events */
  async stream(body: unknown): Promise<Answer> {
    const accept = { Accept: 'text/event-stream' };
    const first = await this.call('POST', '/executions', { body, headers: accept });
    if (first.status !== 201) return first;
    let { text } = first;
    const id = /"id": ?"(exec_[^"]+)"/.exec(text)?.[1];
    for (let again = 0; !ENDS.test(text) && id !== undefined && again < 20; again += 1) {
      this.seen.streamsContinued += 1;
      const last = text
        .match(/^id: (.+)$/gm)
        ?.at(-1)
        ?.slice('id: '.length);
      if (again > 0) await delay(100);
      const more = await this.call('GET', `/executions/${id}/stream`, {
        headers: { ...accept, ...(last !== undefined && { 'Last-Event-ID': last }) },
      });
      text += more.text;
    }
    return { status: ENDS.test(text) ? 201 : 0, text };
  }

  #ask(port: number, method: string, path: string, { body, raw, headers = {} }: Asked): Promise<Answer> {
    const content = raw ?? (body === undefined ? undefined : JSON.stringify(body));
    return new Promise((resolve, reject) => {
      const request = http.request(
        {
          host: '127.0.0.1',
          port,
          method,
          path: `/v1${path}`,
          agent: false,
          headers: {
            Authorization: `Bearer ${this.#key}`,
            ...(body !== undefined && { 'Content-Type': 'application/json' }),
            ...headers,
          },
        },
        (response) => {
          let text = '';
          response.setEncoding('utf8').on('data', (piece: string) => {
            text += piece;
          });
          response.once('error', reject);
          response.once('end', () => resolve({ status: response.statusCode ?? 0, text }));
        },
      );
      request.once('error', reject);
      request.end(content);
    });
  }
}
