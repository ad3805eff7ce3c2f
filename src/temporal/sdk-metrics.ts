/** Timeout for the SDK's exporter, which is on this machine. */
const TIMEOUT_MS = 1_000;

/** Upper bounds for the time that a task waits for a worker, in seconds. */
export const SCHEDULE_TO_START_BUCKETS = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300];
/** Upper bounds for the duration of a request to Temporal, in seconds. */
export const REQUEST_BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** A line from the SDK's exporter. */
interface Sample {
  name: string;
  labels: Record<string, string>;
  value: number;
}

/** A metric family of this service: the SDK series that it sums, and its labels. */
interface Family {
  name: string;
  type: 'counter' | 'gauge' | 'histogram';
  help: string;
  /** SDK series, with the labels that each adds. */
  from: Record<string, Record<string, string>>;
  /** Label names here, mapped to those of the SDK. */
  labels: Record<string, string>;
  /** Series to create with 0, so that their first event shows as an increase: the SDK creates them only then. */
  fromZero?: (samples: Sample[], nameOf: (taskQueue: string) => string) => string[];
}

const FAMILIES: Family[] = [
  {
    name: 'pms_schedule_to_start_seconds',
    type: 'histogram',
    help: 'Time that tasks waited in Temporal for a worker',
    from: {
      temporal_workflow_task_schedule_to_start_latency_seconds: {},
      temporal_activity_schedule_to_start_latency_seconds: {},
    },
    labels: { task_queue: 'task_queue' },
    fromZero: emptyWaits,
  },
  {
    name: 'pms_worker_slots',
    type: 'gauge',
    help: 'Tasks that this worker may have under way',
    from: {
      temporal_worker_task_slots_used: { state: 'used' },
      temporal_worker_task_slots_available: { state: 'available' },
    },
    labels: { task_queue: 'task_queue', tasks: 'worker_type' },
  },
  {
    name: 'pms_temporal_request_seconds',
    type: 'histogram',
    help: 'Duration of requests to Temporal, without those that wait for work',
    from: { temporal_request_latency_seconds: {} },
    labels: {},
  },
  {
    name: 'pms_temporal_request_failures_total',
    type: 'counter',
    help: 'Requests to Temporal that failed',
    from: { temporal_request_failure_total: {}, temporal_long_request_failure_total: {} },
    labels: { code: 'status_code' },
    fromZero: () => ['pms_temporal_request_failures_total{code="TRANSPORT_ERROR"}'],
  },
];

const PART = /^(.*?)(_bucket|_sum|_count)?$/;
const LINE = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? (\S+)$/;
const LABEL = /(\w+)="((?:[^"\\]|\\.)*)"/g;

/** Parses Prometheus text. The SDK's label values are names without escapes. */
function parse(text: string): Sample[] {
  return text.split('\n').flatMap((line) => {
    const [, name, labels = '', value] = LINE.exec(line) ?? [];
    if (name === undefined) return [];
    const pairs = [...labels.matchAll(LABEL)].map(([, key = '', text = '']) => [key, text] as const);
    return [{ name, labels: Object.fromEntries(pairs), value: Number(value) }];
  });
}

/** One for each task queue that this process works on. */
function emptyWaits(samples: Sample[], nameOf: (taskQueue: string) => string): string[] {
  const workers = samples.filter(({ name }) => name === 'temporal_worker_task_slots_available');
  const queues = new Set(workers.map(({ labels }) => nameOf(labels['task_queue'] ?? '')));
  const name = 'pms_schedule_to_start_seconds';
  return [...queues].flatMap((queue) => [
    ...[...SCHEDULE_TO_START_BUCKETS, '+Inf'].map((le) => `${name}_bucket{task_queue="${queue}",le="${le}"}`),
    `${name}_sum{task_queue="${queue}"}`,
    `${name}_count{task_queue="${queue}"}`,
  ]);
}

/** Sums the SDK's series into those of a family. @param nameOf the name of a task queue here */
function seriesOf(family: Family, samples: Sample[], nameOf: (taskQueue: string) => string): Map<string, number> {
  const sums = new Map<string, number>();
  for (const series of family.fromZero?.(samples, nameOf) ?? []) sums.set(series, 0);
  for (const { name, labels, value } of samples) {
    const parts = family.type === 'histogram' ? PART.exec(name) : [name, name, ''];
    const [, base = '', part = ''] = parts ?? [];
    const added = family.from[base];
    if (added === undefined || (family.type === 'histogram' && part === '')) continue;
    const kept = Object.entries(family.labels).map(([ours, theirs]) => {
      const text = labels[theirs] ?? '';
      return [ours, theirs === 'task_queue' ? nameOf(text) : text];
    });
    const all = [...kept, ...Object.entries(added), ...(part === '_bucket' ? [['le', labels['le'] ?? '']] : [])];
    const shown = all.map(([key, text]) => `${key}="${text}"`).join(',');
    const series = `${family.name}${part}${shown === '' ? '' : `{${shown}}`}`;
    sums.set(series, (sums.get(series) ?? 0) + value);
  }
  return sums;
}

/**
 * Selects the SDK metrics that operators need, under names of this service and with few labels. They come from the SDK's core, which
 * knows when Temporal scheduled a task.
 * @param text from the SDK's exporter
 * @param nameOf the name of a task queue here
 * @returns Prometheus text
 */
export function summarizeSdkMetrics(text: string, nameOf: (taskQueue: string) => string): string {
  const samples = parse(text);
  return FAMILIES.map((family) => {
    const series = [...seriesOf(family, samples, nameOf)].map(([name, value]) => `${name} ${value}\n`).join('');
    return series === '' ? '' : `# HELP ${family.name} ${family.help}\n# TYPE ${family.name} ${family.type}\n${series}`;
  }).join('');
}

/**
 * Reads the SDK's metrics of this process.
 * @param address `host:port` of its exporter
 * @returns as `summarizeSdkMetrics`; empty if it does not respond in time
 */
export async function readSdkMetrics(address: string, nameOf: (taskQueue: string) => string): Promise<string> {
  try {
    const response = await fetch(`http://${address}/metrics`, { signal: AbortSignal.timeout(TIMEOUT_MS) });
    return response.ok ? summarizeSdkMetrics(await response.text(), nameOf) : '';
  } catch {
    return '';
  }
}
