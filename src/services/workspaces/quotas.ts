import type { Readable } from 'node:stream';
import type { Query } from '../../db/database.ts';
import { lockInWorkspace } from '../../db/lock.ts';
import { ApiError } from '../../domain/errors.ts';
import { COUNTS, QUOTAS, type QuotaName } from './quota-list.ts';

/** Quotas whose number is in the database, exact at every moment. */
export type ExactQuota = Exclude<QuotaName, 'executions' | 'uploads' | 'streams'>;

/** How many of each a workspace can have; 0: any number. */
export type QuotaLimits = Record<QuotaName, number>;

/** 429 `quota_exceeded` */
function exceeded(name: QuotaName, limit: number): ApiError {
  const { what, remedy, setting } = QUOTAS[name];
  return new ApiError(
    'quota_exceeded',
    `This workspace may have at most ${limit} ${what}. ${remedy}, or ask the operator to raise ${setting}.`,
  );
}

/** Enforces the quotas of workspaces. */
export interface Quotas {
  /**
   * Refuses what the caller's transaction has added where it is too much. Exact: it locks, so call it last in the transaction. Other
   * transactions of the workspace that add the same wait until this one ends.
   * @throws ApiError `quota_exceeded`
   */
  require(query: Query, name: ExactQuota): Promise<void>;
  /**
   * Refuses early what is bound to be refused, before costly work.
   * @throws ApiError `quota_exceeded`
   */
  check(query: Query, name: ExactQuota): Promise<void>;
  /**
   * Stores an execution if there is room. Each process counts the rows at most once a second, and once more before it refuses an
   * execution; in between, it adds its own. So several processes together may exceed the quota by what they store in a second.
   * @throws ApiError `quota_exceeded`
   */
  storeExecution(query: Query, workspaceId: string, store: () => Promise<void>): Promise<void>;
  /**
   * Receives an upload unless too many are in progress in this process, whose disk holds them.
   * @throws ApiError `quota_exceeded`
   */
  upload<T>(workspaceId: string, receive: () => Promise<T>): Promise<T>;
  /**
   * Opens a stream unless too many are open in this process. It counts until it is closed.
   * @throws ApiError `quota_exceeded`
   */
  stream<T extends Readable>(workspaceId: string, open: () => Promise<T>): Promise<T>;
}

async function countOf(query: Query, name: keyof typeof COUNTS): Promise<number> {
  const [row] = await query(COUNTS[name], {});
  return row?.count ?? 0;
}

/** How long a count of executions is used; the second, where it would refuse an execution. */
const SAMPLE_MS = 1_000;
const REFUSING_SAMPLE_MS = 100;
const REMEMBER_WORKSPACES = 10_000;

/** Executions of one workspace, as this process knows them. */
interface Sample {
  at: number;
  counted: number;
  /** Stored by this process since the count began. */
  since: number;
  /** Being stored by this process. */
  storing: number;
  counting: Promise<void> | undefined;
}

export function createQuotas(limits: QuotaLimits): Quotas {
  const samples = new Map<string, Sample>();
  const uploads = createCounter('uploads', limits.uploads);
  const streams = createCounter('streams', limits.streams);

  function sampleOf(workspaceId: string): Sample {
    const known = samples.get(workspaceId);
    if (known !== undefined) return known;
    if (samples.size >= REMEMBER_WORKSPACES) samples.clear();
    const sample = { at: Number.NEGATIVE_INFINITY, counted: 0, since: 0, storing: 0, counting: undefined };
    samples.set(workspaceId, sample);
    return sample;
  }

  /** One count at a time, on the connection of its first caller. */
  async function refresh(query: Query, sample: Sample): Promise<void> {
    sample.counting ??= (async () => {
      const at = performance.now();
      sample.since = 0;
      sample.counted = await countOf(query, 'executions');
      sample.at = at;
    })().finally(() => {
      sample.counting = undefined;
    });
    await sample.counting;
  }

  return {
    async require(query, name) {
      const limit = limits[name];
      if (limit === 0) return;
      await lockInWorkspace(query, `quota ${name}`);
      if ((await countOf(query, name)) > limit) throw exceeded(name, limit);
    },

    async check(query, name) {
      const limit = limits[name];
      if (limit !== 0 && (await countOf(query, name)) >= limit) throw exceeded(name, limit);
    },

    async storeExecution(query, workspaceId, store) {
      const limit = limits.executions;
      if (limit === 0) return store();
      const sample = sampleOf(workspaceId);
      const ageMs = () => performance.now() - sample.at;
      const isFull = () => sample.counted + sample.since + sample.storing >= limit;
      if (sample.counting !== undefined || ageMs() > SAMPLE_MS) await refresh(query, sample);
      if (isFull() && ageMs() > REFUSING_SAMPLE_MS) await refresh(query, sample);
      if (isFull()) throw exceeded('executions', limit);
      sample.storing += 1;
      try {
        await store();
        sample.since += 1;
      } finally {
        sample.storing -= 1;
      }
    },

    async upload(workspaceId, receive) {
      const leave = uploads.enter(workspaceId);
      try {
        return await receive();
      } finally {
        leave();
      }
    },

    async stream(workspaceId, open) {
      const leave = streams.enter(workspaceId);
      try {
        const stream = await open();
        stream.once('close', leave);
        return stream;
      } catch (error) {
        leave();
        throw error;
      }
    },
  };
}

/** Counts what workspaces have under way in this process. */
function createCounter(name: 'uploads' | 'streams', limit: number) {
  const counts = new Map<string, number>();
  return {
    /** @returns ends it @throws ApiError `quota_exceeded` */
    enter(workspaceId: string): () => void {
      const count = counts.get(workspaceId) ?? 0;
      if (limit !== 0 && count >= limit) throw exceeded(name, limit);
      counts.set(workspaceId, count + 1);
      return () => {
        const left = (counts.get(workspaceId) ?? 1) - 1;
        if (left === 0) counts.delete(workspaceId);
        else counts.set(workspaceId, left);
      };
    },
  };
}
