import { AsyncLocalStorage } from 'node:async_hooks';
import type { Query } from '../../db/database.ts';
import type { AuditAction, Author } from '../../domain/audit.ts';
import { publicId } from '../../domain/ids.ts';

/** Who makes changes, and from where. */
export interface Acting {
  /** Undefined: the operator, at the command line or through a setting, unless `by` names another actor. */
  key: { id: string; name: string; memberId: string | null; sessionId: string | undefined } | undefined;
  /** The identity provider, which sends changes of its people. */
  by?: 'provisioning' | undefined;
  address: string | undefined;
  requestId: string | undefined;
  /** The actions that the operation declares; undefined: any. */
  actions: readonly AuditAction[] | undefined;
  /** Refuses changes that would add to a full audit log. Undefined: refuses nothing. */
  requireRoom?: ((query: Query) => Promise<void>) | undefined;
}

export const OPERATOR: Acting = { key: undefined, address: undefined, requestId: undefined, actions: undefined };

const acting = new AsyncLocalStorage<Acting>();

/** Runs `work` and records its changes as made by `who`. Changes outside of it, such as those of recurring tasks, are not recorded. */
export const actAs = <T>(who: Acting, work: () => Promise<T>): Promise<T> => acting.run(who, work);

/** The author of the current request; null: the operator or the service itself. */
export function currentAuthor(): Author | null {
  const key = acting.getStore()?.key;
  if (key === undefined) return null;
  const { id, memberId, name } = key;
  return { key_id: publicId('apiKey', id), member_id: memberId && publicId('member', memberId), name };
}

export const currentActor = (): Acting | undefined => acting.getStore();
