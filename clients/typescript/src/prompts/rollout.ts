import { BUCKETS, thresholdOf } from '../../../../src/domain/prompt-rules/rollout-share.ts';
import type { Prompt } from '../generated/types.gen.ts';
import { randomKey, webCrypto } from '../platform.ts';

/** The release that decided which version is given, as an execution of the service has it. */
export interface DecidedBy {
  /** `rel_…` */
  id: string;
  arm: 'stable' | 'candidate';
  /** Whether a `rolloutKey` decided. Else it was chosen at random. */
  keyed: boolean;
}

type Release = NonNullable<Prompt['release']>;

/** Who gets the candidate of a release: the same keys as in the service, without asking it. */
export async function isCandidate({ salt, percent }: Pick<Release, 'salt' | 'percent'>, key: string): Promise<boolean> {
  const { subtle } = await webCrypto();
  const hash = await subtle.digest('SHA-256', new TextEncoder().encode(`${salt}:${key}`));
  return new DataView(hash).getUint32(0) % BUCKETS < thresholdOf(percent);
}

/** @param key undefined: chosen at random */
export async function decide(release: Release, key: string | undefined): Promise<DecidedBy> {
  const isIt = await isCandidate(release, key ?? randomKey());
  return { id: release.id, arm: isIt ? 'candidate' : 'stable', keyed: key !== undefined };
}
