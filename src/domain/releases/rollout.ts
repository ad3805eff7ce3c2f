import { createHash, randomUUID } from 'node:crypto';
import { BUCKETS, thresholdOf } from '../prompt-rules/rollout-share.ts';

export { BUCKETS, thresholdOf };

/** Which callers of a label get the candidate of its release. */
export interface Rollout {
  /** UUID of the release. */
  id: string;
  stable_version: number;
  candidate_version: number;
  /** 0–100, in steps of 0.01. */
  percent: number;
  salt: string;
  /** The step since which the share is unchanged: numbers are stored for each. */
  stage: number;
}

export const ARMS = ['stable', 'candidate'] as const;
export type Arm = (typeof ARMS)[number];

/** The key that decides an execution's arms: the caller's, or a random one for this execution. */
export interface RolloutKey {
  key: string;
  /** Whether it is the caller's key. */
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
 * Raising `percent` never takes the candidate away from anybody.
 */
export function armOf({ salt, percent }: Pick<Rollout, 'salt' | 'percent'>, key: string): Arm {
  return bucketOf(salt, key) < thresholdOf(percent) ? 'candidate' : 'stable';
}
