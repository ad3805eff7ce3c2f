import { AsyncLocalStorage } from 'node:async_hooks';
import type { Query } from '../../db/database.ts';
import type { AuditAction } from '../../domain/audit.ts';

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

export const whoActs = (): Acting | undefined => acting.getStore();
