/** Every action that the audit log records, and what it is done to. */
export const AUDIT_ACTIONS = {
  'prompt.created': 'prompt',
  'prompt.updated': 'prompt',
  'prompt.archived': 'prompt',
  'prompt.restored': 'prompt',
  'prompt.version_deleted': 'prompt',
  'label.moved': 'prompt',
  'label.removed': 'prompt',
  'label.protected': 'label',
  'label.unprotected': 'label',
  'label.policy_set': 'label',
  'label.policy_removed': 'label',
  'release.started': 'release',
  'release.approved': 'release',
  'release.rejected': 'release',
  'release.paused': 'release',
  'release.resumed': 'release',
  'release.promoted': 'release',
  'release.rolled_back': 'release',
  'release.canceled': 'release',
  'release.superseded': 'release',
  'dataset.created': 'dataset',
  'dataset.updated': 'dataset',
  'dataset.deleted': 'dataset',
  'queue.created': 'queue',
  'queue.updated': 'queue',
  'queue.deleted': 'queue',
  'queue.items_added': 'queue',
  'queue.item_completed': 'queue',
  'queue.item_skipped': 'queue',
  'queue.item_returned': 'queue',
  'execution.canceled': 'execution',
  'execution.deleted': 'execution',
  'evaluation.paused': 'evaluation',
  'evaluation.resumed': 'evaluation',
  'evaluation.canceled': 'evaluation',
  'evaluation.retried': 'evaluation',
  'evaluation.batch_resubmitted': 'evaluation',
  'evaluation.deleted': 'evaluation',
  'score.deleted': 'score',
  'score_definition.set': 'score_definition',
  'score_definition.deleted': 'score_definition',
  'schedule.created': 'schedule',
  'schedule.paused': 'schedule',
  'schedule.resumed': 'schedule',
  'schedule.triggered': 'schedule',
  'schedule.deleted': 'schedule',
  'monitor.created': 'monitor',
  'monitor.updated': 'monitor',
  'monitor.deleted': 'monitor',
  'view.deleted': 'view',
  'rule.created': 'rule',
  'rule.updated': 'rule',
  'rule.deleted': 'rule',
  'rule.backfill_started': 'rule',
  'rule.backfill_paused': 'rule',
  'rule.backfill_resumed': 'rule',
  'rule.backfill_canceled': 'rule',
  'webhook.created': 'webhook',
  'webhook.updated': 'webhook',
  'webhook.deleted': 'webhook',
  'webhook.enabled': 'webhook',
  'webhook.disabled': 'webhook',
  'webhook.secret_rotated': 'webhook',
  'webhook.tested': 'webhook',
  'webhook.replayed': 'webhook',
  'webhook.redelivered': 'webhook',
  'api_key.created': 'api_key',
  'api_key.revoked': 'api_key',
  'session.created': 'session',
  'session.ended': 'session',
  'member.joined': 'member',
  'member.role_changed': 'member',
  'member.suspended': 'member',
  'member.reinstated': 'member',
  'member.removed': 'member',
  'workspace.created': 'workspace',
  'workspace.owner_changed': 'workspace',
} as const;

export type AuditAction = keyof typeof AUDIT_ACTIONS;

/**
 * Recorded although the audit log is full: they end what can't be made again as long as it is, so there are only so many.
 */
export const NEVER_REFUSED: ReadonlySet<AuditAction> = new Set([
  'prompt.archived',
  'prompt.version_deleted',
  'label.removed',
  'release.rejected',
  'release.rolled_back',
  'release.canceled',
  'dataset.deleted',
  'score.deleted',
  'score_definition.deleted',
  'queue.deleted',
  'schedule.deleted',
  'monitor.deleted',
  'view.deleted',
  'rule.deleted',
  'rule.backfill_canceled',
  'webhook.deleted',
  'webhook.disabled',
  'api_key.revoked',
  'session.ended',
  'member.suspended',
  'member.removed',
]);

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
