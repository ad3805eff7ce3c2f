import { BUCKETS, thresholdOf } from '../../../../src/domain/prompt-rules/rollout-share.ts';
import type { Prompt } from '../generated/types.gen.ts';
import { randomKey, webCrypto } from '../platform.ts';

/** The release that selected the version, as in an execution record. */
export interface DecidedBy {
  /** `rel_…` */
  id: string;
  arm: 'stable' | 'candidate';
  /** Whether a `rolloutKey` selected it. Otherwise it was random. */
  keyed: boolean;
}

type Release = NonNullable<Prompt['release']>;

/** Whether a key gets the candidate of a release: the same result as in the service, computed locally. */
export async function isCandidate({ salt, percent }: Pick<Release, 'salt' | 'percent'>, key: string): Promise<boolean> {
  const { subtle } = await webCrypto();
  const hash = await subtle.digest('SHA-256', new TextEncoder().encode(`${salt}:${key}`));
  return new DataView(hash).getUint32(0) % BUCKETS < thresholdOf(percent);
}

/** @param key undefined for a random choice */
export async function decide(release: Release, key: string | undefined): Promise<DecidedBy> {
  const isIt = await isCandidate(release, key ?? randomKey());
  return { id: release.id, arm: isIt ? 'candidate' : 'stable', keyed: key !== undefined };
}
