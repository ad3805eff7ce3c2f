import { createHash, randomUUID } from 'node:crypto';
import { BUCKETS, thresholdOf } from '../prompt-rules/rollout-share.ts';

export { BUCKETS, thresholdOf };

/** Who of a label's callers get the candidate of its release. */
export interface Rollout {
  /** UUID of the release. */
  id: string;
  stable_version: number;
  candidate_version: number;
  /** 0–100, in steps of 0.01. */
  percent: number;
  salt: string;
  /** The step since which the share is as it is: numbers are kept for each. */
  stage: number;
}

export const ARMS = ['stable', 'candidate'] as const;
export type Arm = (typeof ARMS)[number];

/** What decides an execution's arms: the caller's key, or one made up for this execution. */
export interface RolloutKey {
  key: string;
  /** Whether it is the caller's. */
  keyed: boolean;
}

export const rolloutKeyOf = (given: string | undefined): RolloutKey => ({
  key: given ?? randomUUID(),
  keyed: given !== undefined,
});

/** 0–9,999: the first 32 bits of the SHA-256 of `salt:key`, modulo 10,000. */
export function bucketOf(salt: string, key: string): number {
  return createHash('sha256').update(`${salt}:${key}`).digest().readUInt32BE() % BUCKETS;
}

/**
 * Who gets which version. The same in the clients and in SQL (`test/vectors/rollouts.json`, `services/prompts/include-walk.ts`).
 * Raising `percent` takes the candidate from nobody.
 */
export function armOf({ salt, percent }: Pick<Rollout, 'salt' | 'percent'>, key: string): Arm {
  return bucketOf(salt, key) < thresholdOf(percent) ? 'candidate' : 'stable';
}
