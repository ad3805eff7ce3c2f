import { verifyWebhook } from './webhooks.ts';

export type { ApiPromise, CallOptions, RequestOf, ResponseOf, WithResponse } from './call.ts';
export {
  ConnectionError,
  type ErrorCode,
  InsufficientScopeError,
  InvalidRequestError,
  InvalidStateError,
  NotFoundError,
  PmsError,
  PromptArchivedError,
  QuotaExceededError,
  RateLimitedError,
  ServiceError,
  SignatureError,
  UnauthorizedError,
  VariablesError,
  VersionConflictError,
  WaitTimeoutError,
} from './errors.ts';
export type { BuiltInScore, ScoreWithReason } from './evaluate/built-in-scores.ts';
export type { EvaluateOptions, EvaluateResult } from './evaluate/evaluate.ts';
export type { Scorer, ScoreSpec } from './evaluate/scores.ts';
export type { Operations } from './generated/operations.gen.ts';
/** All types of the service's OpenAPI document. */
export type * as Api from './generated/types.gen.ts';
export { EVENT_TYPES, SCOPES } from './generated/values.gen.ts';
export type { NewExample, UploadedExamples, UploadOptions, WaitOptions } from './own-methods.ts';
export { List, type Page } from './pages.ts';
export { type ExecuteOptions, type ListOperation, Pms, type PmsOptions } from './pms.ts';
export type { ChatMessage, Fallback, ModelInput, Variables } from './prompts/loaded-prompt.ts';
export { LoadedPrompt } from './prompts/loaded-prompt.ts';
export type { CacheDump, Selector } from './prompts/prompt-cache.ts';
export type { CacheOptions, GetOptions, PromptMetrics, Prompts } from './prompts/prompts.ts';
export type { DecidedBy } from './prompts/rollout.ts';
export type { RecordOptions, Run } from './record.ts';
export type { Resources } from './resources.ts';
export type { Scores } from './scores.ts';
export type { ChangesEvent, EvaluationEvent, ImprovementEvent, StreamEvent, StreamOptions } from './stream.ts';
export type { RequestOptions, TransportOptions } from './transport.ts';
export { verifyWebhook, type WebhookEvent } from './webhooks.ts';

/** Verifies webhook requests. */
export const webhooks = { verify: verifyWebhook };
