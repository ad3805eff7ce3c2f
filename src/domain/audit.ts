import { DECLARATIONS } from './capabilities.ts';
import { merge } from './capability.ts';

/** Every action that the audit log records, and what it is done to. */
export const AUDIT_ACTIONS = merge(DECLARATIONS, 'audit');

export type AuditAction = keyof typeof AUDIT_ACTIONS;

/**
 * Recorded although the audit log is full: they end what can't be made again as long as it is, so there are only so many.
 */
export const NEVER_REFUSED: ReadonlySet<AuditAction> = new Set(
  DECLARATIONS.flatMap((each): readonly AuditAction[] => ('auditedWhenFull' in each ? each.auditedWhenFull : [])),
);

/** What is changed: prompts, labels, datasets, monitors, queues, views and definitions of scores have their name as id, all else its public id. */
export type AuditedType = (typeof AUDIT_ACTIONS)[AuditAction];

export const AUDIT_ACTION_NAMES = Object.keys(AUDIT_ACTIONS) as AuditAction[];
export const AUDITED_TYPES: readonly AuditedType[] = [...new Set(Object.values(AUDIT_ACTIONS))];

/** By whom something was made, in records that outlive keys and members: with public ids. */
export interface Author {
  key_id: string;
  /** The member whose key it is, or who made it; null: nobody that signs in. */
  member_id: string | null;
  name: string;
}

/** By what a change was made: a key, a session, the operator's command line, or what the identity provider tells of its people (SCIM). */
export const ACTOR_TYPES = ['api_key', 'session', 'operator', 'provisioning'] as const;
export type ActorType = (typeof ACTOR_TYPES)[number];
