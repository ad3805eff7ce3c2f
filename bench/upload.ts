import http from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { setTimeout as delay } from 'node:timers/promises';
import type { Means } from './means.ts';
import { type Outcome, row } from './report.ts';
import type { Servers } from './servers.ts';
import { type Service, startService } from './service.ts';

const ROUNDS = 3;
const MIB = 1024 * 1024;
const UPLOAD_BYTES = 100 * MIB;
const SAMPLE_MS = 50;
const CALM_MS = 3_000;

/** The uploaded content: the text of example `index`. */
interface Kind {
  name: string;
  type: string;
  header: string;
  example: (index: number) => string;
}

const text = 'The quick brown fox jumps over the lazy dog, "quoted" and all. '.repeat(8);
const csvText = text.replaceAll('"', '""');
const KINDS: Kind[] = [
  {
    name: 'JSON Lines, 600 bytes each',
    type: 'application/x-ndjson',
    header: '',
    example: (index) =>
      `${JSON.stringify({ id: `example-${index}`, variables: { question: text, index }, expected: `answer ${index}` })}\n`,
  },
  {
    name: 'JSON Lines, 1,000,000 small ones without an id',
    type: 'application/x-ndjson',
    header: '',
    example: (index) =>
      `{"variables":{"number":"a number such as ${index}"},"expected":"an answer such as ${index}"}\n`,
  },
  {
    name: 'CSV, 600 bytes each',
    type: 'text/csv',
    header: 'id,question,expected,metadata.source\n',
    example: (index) => `example-${index},"${csvText}",answer ${index},somewhere\n`,
  },
];

function* chunksOf({ header, example }: Kind, uploadBytes: number): Generator<Buffer> {
  let sent = 0;
  let begun = header;
  for (let index = 0; sent + begun.length < uploadBytes && index < 1_000_000; index += 1) {
    begun += example(index);
    if (begun.length < 64 * 1024) continue;
    sent += begun.length;
    yield Buffer.from(begun);
    begun = '';
  }
  yield Buffer.from(begun);
}

/** Generates and sends an upload. @returns its size in bytes */
async function upload(service: Service, kind: Kind, uploadBytes = UPLOAD_BYTES): Promise<number> {
  let bytes = 0;
  const request = http.request(`${service.origin}/v1/datasets/bench/upload`, {
    method: 'PUT',
    headers: { Authorization: `Bearer ${service.key}`, 'Content-Type': kind.type },
  });
  const answered = new Promise<http.IncomingMessage>((resolve, reject) => {
    request.once('response', resolve);
    request.once('error', reject);
  });
  const counted = Readable.from(
    chunksOf(kind, uploadBytes).map((chunk) => {
      bytes += chunk.length;
      return chunk;
    }),
    { objectMode: false },
  );
  await pipeline(counted, request);
  const response = await answered;
  const body = Buffer.concat(await response.toArray()).toString();
  if (response.statusCode !== 200) throw new Error(`The upload was answered with ${response.statusCode}: ${body}`);
  return bytes;
}

async function download(service: Service): Promise<void> {
  const response = await fetch(`${service.origin}/v1/datasets/bench/upload/export`, {
    headers: { Authorization: `Bearer ${service.key}` },
  });
  for await (const _ of response.body ?? []);
}

/** Waits until the service has finished starting: its workers continue for a while after it is ready. */
async function untilCalm(service: Service): Promise<void> {
  let lowest = Number.POSITIVE_INFINITY;
  let highest = 0;
  let since = performance.now();
  while (performance.now() - since < CALM_MS) {
    const bytes = await service.rssBytes();
    lowest = Math.min(lowest, bytes);
    highest = Math.max(highest, bytes);
    if (highest - lowest > 4 * MIB) {
      lowest = bytes;
      highest = bytes;
      since = performance.now();
    }
    await delay(SAMPLE_MS);
  }
}

/** Runs `work` and measures its duration and the maximum memory growth of the service. */
async function measured<T>(service: Service, work: () => Promise<T>) {
  const before = await service.rssBytes();
  let peak = before;
  let sampling: Promise<void> = Promise.resolve();
  const timer = setInterval(() => {
    sampling = service.rssBytes().then((bytes) => {
      peak = Math.max(peak, bytes);
    });
  }, SAMPLE_MS);
  const began = performance.now();
  const result = await work();
  const seconds = (performance.now() - began) / 1000;
  clearInterval(timer);
  await sampling;
  return { result, seconds, growthMib: (peak - before) / MIB };
}

/** Uploads a dataset of 100 MiB, or of a million examples, and downloads it again. */
export async function measureUpload(servers: Servers, { profileFolder }: Means): Promise<Outcome> {
  const rows: Outcome['rows'] = [];
  for (const kind of KINDS) {
    const uploads: { mibPerSecond: number; seconds: number; growthMib: number }[] = [];
    const downloads: number[] = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      // A separate process for each: memory retained by one upload would hide the growth of the next.
      const service = await startService(servers, {}, profileFolder);
      try {
        await upload(service, kind, MIB);
        await untilCalm(service);
        const { result: bytes, seconds, growthMib } = await measured(service, () => upload(service, kind));
        uploads.push({ mibPerSecond: bytes / MIB / seconds, seconds, growthMib });
        downloads.push((await measured(service, () => download(service))).growthMib);
        await service.call('DELETE', '/datasets/bench/upload');
      } finally {
        await service.stop();
      }
    }
    const of = (name: 'mibPerSecond' | 'seconds' | 'growthMib') => uploads.map((one) => one[name]);
    rows.push(row(`${kind.name}: time`, 's', of('seconds'), { below: 60 }));
    rows.push(row(`${kind.name}: speed`, 'MiB/s', of('mibPerSecond')));
    rows.push(row(`${kind.name}: growth of memory`, 'MiB', of('growthMib'), { below: 100 }));
    rows.push(row(`${kind.name}: the same while downloading`, 'MiB', downloads, { below: 100 }));
  }
  return { benchmark: 'upload', rows };
}
