import { ApiKey } from './api-key.ts';
import { AuditEntry } from './audit-entry.ts';
import { Dataset, DatasetExample, DatasetVersion } from './dataset.ts';
import { DeviceAuthorization } from './device-authorization.ts';
import { Evaluation, EvaluationJudgement, EvaluationResult } from './evaluation.ts';
import { Event } from './event.ts';
import { Execution } from './execution.ts';
import { IdempotencyKey } from './idempotency-key.ts';
import { Improvement, ImprovementCandidate, ImprovementLook } from './improvement.ts';
import { Member, User, UserGroup, UserGroupMember } from './member.ts';
import { Monitor, MonitorChange, MonitoredWorkspace, RunMinute } from './monitor.ts';
import { Notification } from './notification.ts';
import { Prompt, PromptInclude, PromptLabel, PromptVersion } from './prompt.ts';
import { PromptDay, StatisticsProgress } from './prompt-day.ts';
import { ProtectedLabel } from './protected-label.ts';
import { ProviderBatch } from './provider-batch.ts';
import { Queue, QueueCandidate, QueueItem, QueueReview } from './queue.ts';
import { RateLimit } from './rate-limit.ts';
import { LabelPolicy, Release, ReleaseEntry, ReleaseSum } from './release.ts';
import { Rule, RuleBackfill, RuleDay, RuleItem, RuleJudgement, TraceJudgement } from './rule.ts';
import { SavedEvaluator } from './saved-evaluator.ts';
import { SavedView } from './saved-view.ts';
import { Schedule, ScheduleOccurrence } from './schedule.ts';
import { ReleaseScoreEntry, Score, ScoreDefinition } from './score.ts';
import { SearchCandidate, SearchIndex, SearchWords } from './search.ts';
import { Session } from './session.ts';
import { StorageEntry, StorageSum } from './storage.ts';
import { StreamDelta } from './stream-delta.ts';
import { Trace, TracePolicyOf, TraceStep } from './trace.ts';
import { UsageEntry, UsageSum } from './usage.ts';
import { Delivery, DeliveryAttempt, Webhook } from './webhook.ts';
import { Workspace } from './workspace.ts';

/** Every table. */
export const entities = [
  Workspace,
  ApiKey,
  Session,
  DeviceAuthorization,
  User,
  UserGroup,
  UserGroupMember,
  Member,
  Prompt,
  PromptVersion,
  PromptLabel,
  PromptInclude,
  ProtectedLabel,
  LabelPolicy,
  Release,
  ReleaseEntry,
  ReleaseSum,
  ReleaseScoreEntry,
  Execution,
  Trace,
  TracePolicyOf,
  TraceStep,
  Score,
  ScoreDefinition,
  Event,
  IdempotencyKey,
  Dataset,
  DatasetVersion,
  DatasetExample,
  Evaluation,
  EvaluationResult,
  EvaluationJudgement,
  ProviderBatch,
  Improvement,
  ImprovementCandidate,
  ImprovementLook,
  Queue,
  QueueItem,
  QueueReview,
  QueueCandidate,
  Rule,
  RuleBackfill,
  RuleItem,
  RuleDay,
  RuleJudgement,
  TraceJudgement,
  Schedule,
  ScheduleOccurrence,
  Monitor,
  MonitorChange,
  RunMinute,
  MonitoredWorkspace,
  StreamDelta,
  RateLimit,
  Webhook,
  Delivery,
  DeliveryAttempt,
  Notification,
  StorageEntry,
  StorageSum,
  UsageEntry,
  UsageSum,
  PromptDay,
  StatisticsProgress,
  AuditEntry,
  SavedEvaluator,
  SavedView,
  SearchIndex,
  SearchCandidate,
  SearchWords,
];
