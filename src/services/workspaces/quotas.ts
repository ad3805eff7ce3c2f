import type { Readable } from 'node:stream';
import type { Query } from '../../db/database.ts';
import { lockInWorkspace } from '../../db/lock.ts';
import { ApiError } from '../../domain/errors.ts';
import { COUNTS, QUOTAS, type QuotaName } from './quota-list.ts';

/** Quotas that are counted in the database, and exact at every moment. */
export type ExactQuota = Exclude<QuotaName, 'executions' | 'auditBytes' | 'uploads' | 'streams'>;

/** The maximum number of each in a workspace; 0: unlimited. */
export type QuotaLimits = Record<QuotaName, number>;

/** 429 `quota_exceeded` */
function exceeded(name: QuotaName, limit: number): ApiError {
  const { what, remedy, setting } = QUOTAS[name];
  return new ApiError(
    'quota_exceeded',
    `This workspace can have at most ${limit} ${what}. ${remedy}, or ask the operator to raise ${setting}.`,
  );
}

/** The share that admins may add to the audit log beyond its quota, so that others can't keep them from acting. */
const ADMINS_RESERVE = 0.1;

/**
 * Refuses additions to a full audit log.
 * @param limit of bytes; 0: unlimited
 * @throws ApiError `quota_exceeded`
 */
export async function requireAuditRoom(query: Query, limit: number, isAdmin: boolean): Promise<void> {
  if (limit === 0) return;
  const bytes = await countOf(query, 'auditBytes');
  if (bytes >= limit * (isAdmin ? 1 + ADMINS_RESERVE : 1)) throw exceeded('auditBytes', limit);
}

/**
 * Refuses additions of the caller's transaction if a table now has too many rows. Exact: it locks, so call it last in the transaction.
 * @param where only rows with these values
 * @throws ApiError `quota_exceeded`
 */
export async function requireRoom(
  query: Query,
  table: 'queues' | 'saved_evaluators' | 'saved_views' | 'label_policies' | 'protected_labels',
  max: number,
  message: string,
  where: Record<string, string> = {},
): Promise<void> {
  await lockInWorkspace(query, `quota ${table}`);
  const [row] = await query((db) =>
    db
      .selectFrom(table)
      .select((eb) => eb.fn.countAll<number>().as('count'))
      .where((eb) => eb.and(where)),
  );
  if ((row?.count ?? 0) > max) throw new ApiError('quota_exceeded', message);
}

/** Enforces the quotas of workspaces. */
export interface Quotas {
  /**
   * Refuses additions of the caller's transaction that exceed a quota. Exact: it locks, so call it last in the transaction. Other
   * transactions of the workspace that add the same wait until this one ends. `evaluations` also refuses if `executionBytes` are used up.
   * @throws ApiError `quota_exceeded`
   */
  require(query: Query, name: ExactQuota): Promise<void>;
  /**
   * Refuses early, before costly work, what would certainly be refused later.
   * @param adding the minimum that the work will add, if known
   * @throws ApiError `quota_exceeded`
   */
  check(query: Query, name: ExactQuota, adding?: number): Promise<void>;
  /**
   * Stores an execution if there is room. Each process counts the rows and their bytes at most once a second, and again before it refuses
   * an execution; in between, it adds only its own. So several processes together may exceed the quota of executions by the number that
   * they store in a second. The quota of bytes may be exceeded by that, and by the results of executions and evaluations that have already started.
   * @throws ApiError `quota_exceeded`
   */
  storeExecution(query: Query, workspaceId: string, store: () => Promise<void>): Promise<void>;
  /**
   * Receives an upload unless too many are in progress in this process, whose disk stores them.
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

/** How long a count of executions is used, and how long if it would refuse an execution. */
const SAMPLE_MS = 1_000;
const REFUSING_SAMPLE_MS = 100;
const REMEMBER_WORKSPACES = 10_000;

/** The executions of one workspace, as far as this process knows. */
interface Sample {
  at: number;
  counted: number;
  /** Stored bytes, including those of other processes. */
  bytes: number;
  /** The number stored by this process since the count started. */
  since: number;
  /** The number being stored by this process. */
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
    const sample = { at: Number.NEGATIVE_INFINITY, counted: 0, bytes: 0, since: 0, storing: 0, counting: undefined };
    samples.set(workspaceId, sample);
    return sample;
  }

  /** One count at a time, on the connection of its first caller. */
  async function refresh(query: Query, sample: Sample): Promise<void> {
    sample.counting ??= (async () => {
      const at = performance.now();
      const before = sample.since;
      if (limits.executionBytes !== 0) sample.bytes = await countOf(query, 'executionBytes');
      if (limits.executions !== 0) sample.counted = await countOf(query, 'executions');
      // Only now, so that checks during the count do not miss them.
      sample.since -= before;
      sample.at = at;
    })().finally(() => {
      sample.counting = undefined;
    });
    await sample.counting;
  }

  async function check(query: Query, name: ExactQuota, adding = 1): Promise<void> {
    const limit = limits[name];
    if (limit !== 0 && (await countOf(query, name)) + adding > limit) throw exceeded(name, limit);
  }

  return {
    async require(query, name) {
      const limit = limits[name];
      // Its results are stored while it runs.
      if (name === 'evaluations') await check(query, 'executionBytes');
      if (limit === 0) return;
      await lockInWorkspace(query, `quota ${name}`);
      if ((await countOf(query, name)) > limit) throw exceeded(name, limit);
    },

    check,

    async storeExecution(query, workspaceId, store) {
      const { executions: limit, executionBytes: maxBytes } = limits;
      if (limit === 0 && maxBytes === 0) return store();
      const sample = sampleOf(workspaceId);
      const ageMs = () => performance.now() - sample.at;
      const hasTooMany = () => limit !== 0 && sample.counted + sample.since + sample.storing >= limit;
      const hasTooMuch = () => maxBytes !== 0 && sample.bytes >= maxBytes;
      if (sample.counting !== undefined || ageMs() > SAMPLE_MS) await refresh(query, sample);
      if ((hasTooMany() || hasTooMuch()) && ageMs() > REFUSING_SAMPLE_MS) await refresh(query, sample);
      if (hasTooMany()) throw exceeded('executions', limit);
      if (hasTooMuch()) throw exceeded('executionBytes', maxBytes);
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

/** Counts what workspaces have in progress in this process. */
function createCounter(name: 'uploads' | 'streams', limit: number) {
  const counts = new Map<string, number>();
  return {
    /** @returns a function that ends it @throws ApiError `quota_exceeded` */
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
