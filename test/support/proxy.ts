import { once } from 'node:events';
import net from 'node:net';

/** A TCP proxy that drops data on command, without knowledge of the protocol. */
export interface TcpProxy {
  port: number;
  /**
   * On the next connection that sends `request`, the response that contains `answer` is lost, together with the connection.
   * @returns when that has happened
   */
  loseAnswer(request: string, answer: string): Promise<void>;
  /** Ends all connections and accepts no new ones until `restore`. */
  cut(): void;
  /** Forwards nothing anymore until `restore`; data sent in the meantime is lost. */
  stall(): void;
  /** Forwards requests, but no responses until `restore`. */
  stallAnswers(): void;
  /** Open connections stay open and no longer carry anything, as when a machine between has forgotten them; new ones work. */
  strand(): void;
  restore(): void;
  close(): Promise<void>;
}

/** @param target of the connections */
export async function startProxy(target: { host: string; port: number }): Promise<TcpProxy> {
  const connections = new Set<net.Socket>();
  let state: 'open' | 'cut' | 'stalled' | 'answers stalled' = 'open';
  /** How often it has stranded connections. */
  let stranded = 0;
  let loss: { request: string; answer: string; done: () => void } | undefined;

  const server = net.createServer((caller) => {
    if (state === 'cut') {
      caller.destroy();
      return;
    }
    const service = net.connect(target);
    const madeAfter = stranded;
    const isStranded = () => madeAfter < stranded;
    let losing: typeof loss;
    const end = () => {
      if (isStranded()) return;
      caller.destroy();
      service.destroy();
    };
    for (const socket of [caller, service]) {
      connections.add(socket);
      socket.on('error', end);
      socket.on('close', () => {
        connections.delete(socket);
        end();
      });
    }
    caller.on('data', (chunk) => {
      if (state === 'stalled' || isStranded()) return;
      if (loss !== undefined && chunk.includes(loss.request)) {
        losing = loss;
        loss = undefined;
      }
      service.write(chunk);
    });
    service.on('data', (chunk) => {
      if (state === 'stalled' || state === 'answers stalled' || isStranded()) return;
      if (losing !== undefined && chunk.includes(losing.answer)) {
        losing.done();
        end();
      } else caller.write(chunk);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const endAll = () => {
    for (const socket of connections) socket.destroy();
  };
  return {
    port: typeof address === 'object' && address !== null ? address.port : 0,
    loseAnswer: (request, answer) =>
      new Promise((done) => {
        loss = { request, answer, done };
      }),
    cut() {
      state = 'cut';
      endAll();
    },
    stall() {
      state = 'stalled';
    },
    stallAnswers() {
      state = 'answers stalled';
    },
    strand() {
      stranded += 1;
    },
    restore() {
      if (state !== 'open') endAll();
      state = 'open';
    },
    async close() {
      endAll();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** A proxy for the server in a URL, and the URL that goes through it. */
export async function proxyTo(url: string): Promise<{ proxy: TcpProxy; url: string }> {
  const through = new URL(url);
  const proxy = await startProxy({ host: through.hostname, port: Number(through.port) });
  through.hostname = '127.0.0.1';
  through.port = String(proxy.port);
  return { proxy, url: through.href };
}
