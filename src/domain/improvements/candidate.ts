/** How a candidate was made. */
export const CANDIDATE_KINDS = ['base', 'reflect', 'restart', 'few_shot'] as const;
export type CandidateKind = (typeof CANDIDATE_KINDS)[number];

/**
 * `rejected` by the guard, without a call; `skipped`: its parent passed the whole minibatch; `tried` on the minibatch, without
 * gain; `checked`: it can be a parent; `finalist`: the one that the verdict is about.
 */
export const CANDIDATE_STATUSES = ['proposed', 'rejected', 'skipped', 'tried', 'checked', 'finalist'] as const;
export type CandidateStatus = (typeof CANDIDATE_STATUSES)[number];

export const REJECT_CODES = [
  'variables_changed',
  'includes_changed',
  'structure_changed',
  'kept_text_missing',
  'too_long',
  'copies_example',
  'adds_address',
  'duplicate',
  'unreadable',
  'invalid',
] as const;
export type RejectCode = (typeof REJECT_CODES)[number];

/** Why the guard refuses a candidate. The message is also sent to the model that wrote it. */
export interface Reject {
  code: RejectCode;
  message: string;
}

/** `perfect`: every check example passes; `patience`: too many proposals without a new best; `finished`: by request. */
export const STOP_REASONS = ['perfect', 'patience', 'max_proposals', 'max_cost', 'deadline', 'finished'] as const;
export type StopReason = (typeof STOP_REASONS)[number];

export const RESULTS = ['improvement', 'regression', 'no_proof', 'no_candidate'] as const;
export type ImprovementResult = (typeof RESULTS)[number];
