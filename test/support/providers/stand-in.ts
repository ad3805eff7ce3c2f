import { createHash } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { BatchBehaviour, BatchStore } from './batches.ts';
import { Behaviour, type CannedAnswer, type Protocol, type RecordedCall, type StreamEvent } from './protocol.ts';
import { sendJson, untilDrained } from './response.ts';

export interface StandInOptions {
  /** Default: `Answer to: <prompt>`. */
  answer?: (call: RecordedCall) => CannedAnswer | string;
  latencyMs?: number;
  /** Default: any free port. */
  port?: number;
  /** A server that outlives the stand-in, for the next one ({@link sharedProviders}). */
  on?: Server;
  /** Whether requests are kept in `calls`; default true. Counts are always kept. */
  keepCalls?: boolean;
}

export interface StandIn {
  /** In the form that a provider's SDK expects, ending with the API's version. */
  baseUrl: string;
  port: number;
  calls: RecordedCall[];
  readonly callCount: number;
  /** How often this very prompt was sent. */
  countBy(prompt: string): number;
  /** Replaces the behaviour so far; without an argument answers are normal again. */
  behave(behaviour?: Behaviour): void;
  /** Its batches, if its protocol has them. */
  batches: BatchStore;
  close(): Promise<void>;
}

/** A server that does not answer yet. */
export async function listen(port = 0): Promise<Server> {
  const server = createServer();
  // As long as providers do, so that a call on a slow machine does not meet a connection that is being closed.
  server.keepAliveTimeout = 60_000;
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  return server;
}

export function portOf(server: Server): number {
  const address = server.address();
  return typeof address === 'object' && address !== null ? address.port : 0;
}

const HUGE_BYTES = 17 * 1024 * 1024;

/** The key of a prompt in `GET /__calls`: the first 16 hexadecimal digits of its SHA-256. */
export function promptKey(prompt: string): string {
  return createHash('sha256').update(prompt).digest('hex').slice(0, 16);
}

/**
 * Serves a provider's protocol on 127.0.0.1. `GET /__calls` returns counts, `POST /__behave` accepts a `Behaviour`, `POST /__reset`
 * clears everything. `GET /__batches` returns the batches and files, `POST /__batches` accepts a `BatchBehaviour`, `POST /__batches/end`
 * ends those in progress.
 */
export async function startStandIn(
  protocol: Protocol,
  versionPath: string,
  options: StandInOptions = {},
): Promise<StandIn> {
  const calls: RecordedCall[] = [];
  const counts = new Map<string, number>();
  const answer = options.answer ?? (({ prompt }) => `Answer to: ${prompt}`);
  let callCount = 0;
  let behaviour: Behaviour = {};
  let timesLeft = Number.POSITIVE_INFINITY;
  let callsSince = 0;
  let replaced = Promise.withResolvers<void>();

  function behave(next: Behaviour = {}): void {
    behaviour = next;
    timesLeft = next.times ?? Number.POSITIVE_INFINITY;
    callsSince = 0;
    replaced.resolve();
    replaced = Promise.withResolvers();
  }

  const batches = new BatchStore(protocol, protocol.batches, (path, body) => {
    const prompt = protocol.promptOf(body);
    const call: RecordedCall = { at: Date.now(), path, query: '', headers: {}, body, prompt };
    const given = answer(call);
    return protocol.answer(call, typeof given === 'string' ? { text: given } : given);
  });

  async function control(path: string, text: string, res: ServerResponse): Promise<void> {
    if (path === '/__batches' && text !== '') batches.behave(BatchBehaviour.parse(JSON.parse(text)));
    if (path === '/__batches/end') await batches.endAll();
    if (path.startsWith('/__batches')) return sendJson(res, 200, batches.inspect());
    if (path === '/__behave') behave(Behaviour.parse(JSON.parse(text || '{}')));
    if (path === '/__reset') {
      callCount = 0;
      calls.length = 0;
      counts.clear();
      batches.forgetAll();
    }
    sendJson(res, 200, { count: callCount, by_prompt: Object.fromEntries(counts) });
  }

  async function misbehave(
    mode: NonNullable<Behaviour['mode']>,
    call: RecordedCall,
    res: ServerResponse,
  ): Promise<void> {
    const { status = 500, headers = {}, body = protocol.error(status, `told to fail with ${status}`) } = behaviour;
    if (streams(call) && mode.endsWith('-halfway')) return misbehaveHalfway(mode, call, body, res);
    switch (mode) {
      case 'fail':
        return sendJson(res, status, body, headers);
      case 'stall':
        return;
      case 'stall-halfway':
      case 'break-halfway': {
        const text = JSON.stringify(protocol.answer(call, { text: 'half of it' }));
        res.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) });
        res.write(text.slice(0, text.length / 2), () => mode === 'break-halfway' && res.destroy());
        return;
      }
      case 'hang-up':
        res.destroy();
        return;
      case 'page':
        res.writeHead(200, { 'content-type': 'text/html' }).end('<html>It works!</html>');
        return;
      case 'nonsense':
        res.writeHead(200, { 'content-type': 'text/plain' }).end('It works!');
        return;
      case 'huge':
        return send(call, protocol.answer(call, { text: `${'x'.repeat(8191)} `.repeat(HUGE_BYTES / 8192) }), res);
      default:
        return sendJson(res, 200, protocol.emptyAnswer(call));
    }
  }

  const streams = (call: RecordedCall) => protocol.wantsStream(call) && behaviour.ignoresStream !== true;

  async function send(call: RecordedCall, body: Record<string, unknown>, res: ServerResponse): Promise<void> {
    if (!streams(call)) return sendJson(res, 200, body);
    startStream(res);
    await sendEvents(res, protocol.events(call, body), behaviour.eventMs);
    res.end();
  }

  async function misbehaveHalfway(
    mode: string,
    call: RecordedCall,
    error: unknown,
    res: ServerResponse,
  ): Promise<void> {
    const events = protocol.events(call, protocol.answer(call, { text: 'half of it' }));
    startStream(res);
    await sendEvents(res, events.slice(0, Math.floor(events.length / 2)), behaviour.eventMs);
    if (mode === 'break-halfway') res.destroy();
    if (mode === 'end-halfway') res.end();
    if (mode === 'fail-halfway') {
      await sendEvents(res, [{ event: 'error', data: error }]);
      res.end();
    }
  }

  async function handle(req: IncomingMessage, res: ServerResponse): Promise<void> {
    const [path = '/', query = ''] = (req.url ?? '/').split('?');
    if (await batches.handle(req, res, path, query)) return;
    const text = await readText(req);
    if (path.startsWith('/__')) return control(path, text, res);
    if (req.method !== 'POST' || !protocol.serves(path))
      return sendJson(res, 404, protocol.error(404, 'no such route'));
    const body = z.record(z.string(), z.unknown()).parse(JSON.parse(text));
    const call: RecordedCall = {
      at: Date.now(),
      path,
      query,
      headers: req.headers,
      body,
      prompt: protocol.promptOf(body),
    };
    callCount += 1;
    const nth = callCount;
    const key = promptKey(call.prompt);
    counts.set(key, (counts.get(key) ?? 0) + 1);
    if (options.keepCalls !== false) calls.push(call);

    const now = behaviour;
    callsSince += 1;
    const isMeant =
      nth % (now.every ?? 1) === 0 && callsSince > (now.after ?? 0) && call.prompt.includes(now.matching ?? '');
    const mode = timesLeft > 0 && isMeant ? (now.mode ?? 'answer') : 'answer';
    if (callsSince > (now.after ?? 0)) timesLeft -= 1;
    if (mode === 'hold') await replaced.promise;
    const isSlow = now.slowEvery !== undefined && nth % now.slowEvery === 0;
    const latencyMs = isSlow ? (now.slowMs ?? 1000) : (now.latencyMs ?? options.latencyMs ?? 0);
    if (latencyMs > 0) await sleep(latencyMs);
    if (now.rateLimitEvery !== undefined && nth % now.rateLimitEvery === 0) {
      return sendJson(res, 429, protocol.error(429, 'slow down'), { 'retry-after': now.retryAfter ?? '1' });
    }
    if (now.failEvery !== undefined && nth % now.failEvery === 0) {
      return sendJson(res, 500, protocol.error(500, 'told to fail'));
    }
    if (mode !== 'answer' && mode !== 'hold') return misbehave(mode, call, res);
    const given = answer(call);
    const canned = typeof given === 'string' ? { text: given } : given;
    const isHidden = now.hideUsageEvery !== undefined && isMeant && nth % now.hideUsageEvery === 0;
    await send(call, protocol.answer(call, isHidden ? { ...canned, usage: null } : canned), res);
  }

  const onRequest = (req: IncomingMessage, res: ServerResponse) => {
    handle(req, res).catch((error: unknown) => {
      if (!res.headersSent) sendJson(res, 400, protocol.error(400, String(error)));
    });
  };
  const server = options.on ?? (await listen(options.port));
  server.on('request', onRequest);
  const port = portOf(server);

  return {
    baseUrl: `http://127.0.0.1:${port}${versionPath}`,
    port,
    calls,
    get callCount() {
      return callCount;
    },
    countBy: (prompt) => counts.get(promptKey(prompt)) ?? 0,
    behave,
    batches,
    async close() {
      server.off('request', onRequest);
      const closed = options.on ? undefined : new Promise<void>((resolve) => server.close(() => resolve()));
      server.closeAllConnections();
      await closed;
      await batches.close();
    },
  };
}

async function readText(req: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of req) chunks.push(chunk);
  return Buffer.concat(chunks).toString('utf8');
}

function startStream(res: ServerResponse): void {
  res.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8' });
}

/** Each event is sent before the next is created, as far as the reader keeps up. */
async function sendEvents(res: ServerResponse, events: readonly StreamEvent[], eventMs = 0): Promise<void> {
  for (const { event, data } of events) {
    if (eventMs > 0) await sleep(eventMs);
    if (res.destroyed) return;
    const text = typeof data === 'string' ? data : JSON.stringify(data);
    const isTaken = res.write(`${event === undefined ? '' : `event: ${event}\n`}data: ${text}\n\n`);
    if (!isTaken) await untilDrained(res);
  }
}
