import { AsyncLocalStorage } from 'node:async_hooks';
import type { Query } from '../../db/database.ts';
import type { AuditAction, Author } from '../../domain/audit.ts';
import { publicId } from '../../domain/ids.ts';

/** Who makes changes, and from where. */
export interface Acting {
  /** Undefined: the operator, at the command line or by a setting, unless `by` says who else. */
  key: { id: string; name: string; memberId: string | null; sessionId: string | undefined } | undefined;
  /** The identity provider, which tells of its people by itself. */
  by?: 'provisioning' | undefined;
  address: string | undefined;
  requestId: string | undefined;
  /** What is declared to be done; undefined: anything. */
  actions: readonly AuditAction[] | undefined;
  /** Refuses what adds to a full audit log; undefined: nothing is refused. */
  requireRoom?: ((query: Query) => Promise<void>) | undefined;
}

export const OPERATOR: Acting = { key: undefined, address: undefined, requestId: undefined, actions: undefined };

const acting = new AsyncLocalStorage<Acting>();

/** Runs `work`, whose changes are recorded as those of `who`. Outside of it, as in recurring tasks, nothing is recorded. */
export const actAs = <T>(who: Acting, work: () => Promise<T>): Promise<T> => acting.run(who, work);

/** By whom a request is made; null: by the operator, or the service itself. */
export function currentAuthor(): Author | null {
  const key = acting.getStore()?.key;
  if (key === undefined) return null;
  const { id, memberId, name } = key;
  return { key_id: publicId('apiKey', id), member_id: memberId && publicId('member', memberId), name };
}

export const currentActor = (): Acting | undefined => acting.getStore();
