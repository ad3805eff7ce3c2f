import { DECLARATIONS } from './capabilities.ts';
import { merge } from './capability.ts';

/** Every action that the audit log records, with the type of resource. */
export const AUDIT_ACTIONS = merge(DECLARATIONS, 'audit');

export type AuditAction = keyof typeof AUDIT_ACTIONS;

/** Recorded even if the audit log is full: these actions end resources that can't be created while it is full, so their number is limited. */
export const NEVER_REFUSED: ReadonlySet<AuditAction> = new Set(
  DECLARATIONS.flatMap((each): readonly AuditAction[] => ('auditedWhenFull' in each ? each.auditedWhenFull : [])),
);

/**
 * The types of changed resources. Prompts, labels, datasets, monitors, queues, views and score definitions have their name as id,
 * all others their public id.
 */
export type AuditedType = (typeof AUDIT_ACTIONS)[AuditAction];

export const AUDIT_ACTION_NAMES = Object.keys(AUDIT_ACTIONS) as AuditAction[];
export const AUDITED_TYPES: readonly AuditedType[] = [...new Set(Object.values(AUDIT_ACTIONS))];

/** The author of something, in records that outlive keys and members: with public ids. */
export interface Author {
  key_id: string;
  /** The member who owns or created the key; null if there is none. */
  member_id: string | null;
  name: string;
}

/** What made a change: a key, a session, the operator's command line, or the identity provider's provisioning (SCIM). */
export const ACTOR_TYPES = ['api_key', 'session', 'operator', 'provisioning'] as const;
export type ActorType = (typeof ACTOR_TYPES)[number];
