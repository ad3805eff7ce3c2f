import http from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';

/** A response as received by its caller. */
export interface Answer {
  status: number;
  text: string;
}

export interface Asked {
  body?: unknown;
  /** Replaces `body`, sent unchanged. */
  raw?: string;
  headers?: Record<string, string>;
}

/** The observations of all callers. */
export interface Seen {
  requests: number;
  byStatus: Record<number, number>;
  /** Requests passed on to another process because the first one's port was closed. */
  refused: number;
  /** 5xx responses and broken connections: there should be none. */
  faults: string[];
  /** Streams that a stopping process ended and another one continued. */
  streamsContinued: number;
}

const ENDS = /^event: execution\.(completed|failed|canceled)$/m;

/**
 * Distributes requests over processes in rotation, like a load balancer: it skips a process that accepts no connection, and retries
 * nothing else. Each request has its own connection.
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

  /** Calls `/v1` + path. @throws Error if the connection broke, which is a fault */
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

  /**
   * Runs a prompt and reads its stream to the end, continuing in other processes if one ends it. @returns the text of all
   * events
   */
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
