// Made by `npm run generate`: do not edit.
import type * as api from './types.gen.ts';

/** What each operation takes, and what it responds with. */
export interface Operations {
  listPrompts: { request: api.ListPromptsData; response: api.ListPromptsResponse };
  createPrompt: { request: api.CreatePromptData; response: api.CreatePromptResponse };
  resolvePrompts: { request: api.ResolvePromptsData; response: api.ResolvePromptsResponse };
  listPromptVersions: { request: api.ListPromptVersionsData; response: api.ListPromptVersionsResponse };
  deletePromptVersion: { request: api.DeletePromptVersionData; response: api.DeletePromptVersionResponse };
  diffPromptVersions: { request: api.DiffPromptVersionsData; response: api.DiffPromptVersionsResponse };
  setPromptLabel: { request: api.SetPromptLabelData; response: api.SetPromptLabelResponse };
  removePromptLabel: { request: api.RemovePromptLabelData; response: api.RemovePromptLabelResponse };
  restorePrompt: { request: api.RestorePromptData; response: api.RestorePromptResponse };
  getPrompt: { request: api.GetPromptData; response: api.GetPromptResponse };
  updatePrompt: { request: api.UpdatePromptData; response: api.UpdatePromptResponse };
  archivePrompt: { request: api.ArchivePromptData; response: api.ArchivePromptResponse };
  listLabels: { request: api.ListLabelsData; response: api.ListLabelsResponse };
  protectLabel: { request: api.ProtectLabelData; response: api.ProtectLabelResponse };
  listReleases: { request: api.ListReleasesData; response: api.ListReleasesResponse };
  createRelease: { request: api.CreateReleaseData; response: api.CreateReleaseResponse };
  getReleaseNumbers: { request: api.GetReleaseNumbersData; response: api.GetReleaseNumbersResponse };
  getRelease: { request: api.GetReleaseData; response: api.GetReleaseResponse };
  approveRelease: { request: api.ApproveReleaseData; response: api.ApproveReleaseResponse };
  rejectRelease: { request: api.RejectReleaseData; response: api.RejectReleaseResponse };
  pauseRelease: { request: api.PauseReleaseData; response: api.PauseReleaseResponse };
  resumeRelease: { request: api.ResumeReleaseData; response: api.ResumeReleaseResponse };
  promoteRelease: { request: api.PromoteReleaseData; response: api.PromoteReleaseResponse };
  rollbackRelease: { request: api.RollbackReleaseData; response: api.RollbackReleaseResponse };
  cancelRelease: { request: api.CancelReleaseData; response: api.CancelReleaseResponse };
  listExecutions: { request: api.ListExecutionsData; response: api.ListExecutionsResponse };
  createExecution: { request: api.CreateExecutionData; response: api.CreateExecutionResponse };
  getExecution: { request: api.GetExecutionData; response: api.GetExecutionResponse };
  deleteExecution: { request: api.DeleteExecutionData; response: api.DeleteExecutionResponse };
  cancelExecution: { request: api.CancelExecutionData; response: api.CancelExecutionResponse };
  recordExecutions: { request: api.RecordExecutionsData; response: api.RecordExecutionsResponse };
  createChatCompletion: { request: api.CreateChatCompletionData; response: api.CreateChatCompletionResponse };
  createResponse: { request: api.CreateResponseData; response: api.CreateResponseResponse };
  listModels: { request: api.ListModelsData; response: api.ListModelsResponse };
  getModel: { request: api.GetModelData; response: api.GetModelResponse };
  listProviders: { request: api.ListProvidersData; response: api.ListProvidersResponse };
  streamExecution: { request: api.StreamExecutionData; response: api.StreamExecutionResponse };
  streamEvaluation: { request: api.StreamEvaluationData; response: api.StreamEvaluationResponse };
  listEvaluations: { request: api.ListEvaluationsData; response: api.ListEvaluationsResponse };
  createEvaluation: { request: api.CreateEvaluationData; response: api.CreateEvaluationResponse };
  estimateEvaluation: { request: api.EstimateEvaluationData; response: api.EstimateEvaluationResponse };
  rescoreEvaluation: { request: api.RescoreEvaluationData; response: api.RescoreEvaluationResponse };
  getEvaluation: { request: api.GetEvaluationData; response: api.GetEvaluationResponse };
  deleteEvaluation: { request: api.DeleteEvaluationData; response: api.DeleteEvaluationResponse };
  listEvaluationResults: { request: api.ListEvaluationResultsData; response: api.ListEvaluationResultsResponse };
  storeEvaluationResults: { request: api.StoreEvaluationResultsData; response: api.StoreEvaluationResultsResponse };
  getEvaluationResult: { request: api.GetEvaluationResultData; response: api.GetEvaluationResultResponse };
  getEvaluationInput: { request: api.GetEvaluationInputData; response: api.GetEvaluationInputResponse };
  compareEvaluations: { request: api.CompareEvaluationsData; response: api.CompareEvaluationsResponse };
  createCodeEvaluation: { request: api.CreateCodeEvaluationData; response: api.CreateCodeEvaluationResponse };
  listOpenExamples: { request: api.ListOpenExamplesData; response: api.ListOpenExamplesResponse };
  finishEvaluation: { request: api.FinishEvaluationData; response: api.FinishEvaluationResponse };
  pauseEvaluation: { request: api.PauseEvaluationData; response: api.PauseEvaluationResponse };
  resumeEvaluation: { request: api.ResumeEvaluationData; response: api.ResumeEvaluationResponse };
  cancelEvaluation: { request: api.CancelEvaluationData; response: api.CancelEvaluationResponse };
  retryEvaluation: { request: api.RetryEvaluationData; response: api.RetryEvaluationResponse };
  resubmitBatch: { request: api.ResubmitBatchData; response: api.ResubmitBatchResponse };
  listEvaluators: { request: api.ListEvaluatorsData; response: api.ListEvaluatorsResponse };
  listDatasets: { request: api.ListDatasetsData; response: api.ListDatasetsResponse };
  listDatasetVersions: { request: api.ListDatasetVersionsData; response: api.ListDatasetVersionsResponse };
  listDatasetExamples: { request: api.ListDatasetExamplesData; response: api.ListDatasetExamplesResponse };
  exportDataset: { request: api.ExportDatasetData; response: api.ExportDatasetResponse };
  createDatasetFromExecutions: { request: api.CreateDatasetFromExecutionsData; response: api.CreateDatasetFromExecutionsResponse };
  getDataset: { request: api.GetDatasetData; response: api.GetDatasetResponse };
  uploadDataset: { request: api.UploadDatasetData; response: api.UploadDatasetResponse };
  deleteDataset: { request: api.DeleteDatasetData; response: api.DeleteDatasetResponse };
  listScores: { request: api.ListScoresData; response: api.ListScoresResponse };
  createScores: { request: api.CreateScoresData; response: api.CreateScoresResponse };
  summarizeScores: { request: api.SummarizeScoresData; response: api.SummarizeScoresResponse };
  deleteScore: { request: api.DeleteScoreData; response: api.DeleteScoreResponse };
  listScoreDefinitions: { request: api.ListScoreDefinitionsData; response: api.ListScoreDefinitionsResponse };
  getScoreDefinition: { request: api.GetScoreDefinitionData; response: api.GetScoreDefinitionResponse };
  setScoreDefinition: { request: api.SetScoreDefinitionData; response: api.SetScoreDefinitionResponse };
  deleteScoreDefinition: { request: api.DeleteScoreDefinitionData; response: api.DeleteScoreDefinitionResponse };
  createFeedbackToken: { request: api.CreateFeedbackTokenData; response: api.CreateFeedbackTokenResponse };
  createFeedback: { request: api.CreateFeedbackData; response: api.CreateFeedbackResponse };
  leaseQueueItem: { request: api.LeaseQueueItemData; response: api.LeaseQueueItemResponse };
  completeQueueItem: { request: api.CompleteQueueItemData; response: api.CompleteQueueItemResponse };
  skipQueueItem: { request: api.SkipQueueItemData; response: api.SkipQueueItemResponse };
  returnQueueItem: { request: api.ReturnQueueItemData; response: api.ReturnQueueItemResponse };
  listQueues: { request: api.ListQueuesData; response: api.ListQueuesResponse };
  listQueueItems: { request: api.ListQueueItemsData; response: api.ListQueueItemsResponse };
  addQueueItems: { request: api.AddQueueItemsData; response: api.AddQueueItemsResponse };
  getQueueAgreement: { request: api.GetQueueAgreementData; response: api.GetQueueAgreementResponse };
  getQueue: { request: api.GetQueueData; response: api.GetQueueResponse };
  setQueue: { request: api.SetQueueData; response: api.SetQueueResponse };
  deleteQueue: { request: api.DeleteQueueData; response: api.DeleteQueueResponse };
  getEvaluatorAgreement: { request: api.GetEvaluatorAgreementData; response: api.GetEvaluatorAgreementResponse };
  createBackfill: { request: api.CreateBackfillData; response: api.CreateBackfillResponse };
  listBackfills: { request: api.ListBackfillsData; response: api.ListBackfillsResponse };
  getBackfill: { request: api.GetBackfillData; response: api.GetBackfillResponse };
  pauseBackfill: { request: api.PauseBackfillData; response: api.PauseBackfillResponse };
  cancelBackfill: { request: api.CancelBackfillData; response: api.CancelBackfillResponse };
  resumeBackfill: { request: api.ResumeBackfillData; response: api.ResumeBackfillResponse };
  listRules: { request: api.ListRulesData; response: api.ListRulesResponse };
  getRule: { request: api.GetRuleData; response: api.GetRuleResponse };
  setRule: { request: api.SetRuleData; response: api.SetRuleResponse };
  deleteRule: { request: api.DeleteRuleData; response: api.DeleteRuleResponse };
  listSchedules: { request: api.ListSchedulesData; response: api.ListSchedulesResponse };
  createSchedule: { request: api.CreateScheduleData; response: api.CreateScheduleResponse };
  getSchedule: { request: api.GetScheduleData; response: api.GetScheduleResponse };
  deleteSchedule: { request: api.DeleteScheduleData; response: api.DeleteScheduleResponse };
  pauseSchedule: { request: api.PauseScheduleData; response: api.PauseScheduleResponse };
  resumeSchedule: { request: api.ResumeScheduleData; response: api.ResumeScheduleResponse };
  triggerSchedule: { request: api.TriggerScheduleData; response: api.TriggerScheduleResponse };
  listMonitors: { request: api.ListMonitorsData; response: api.ListMonitorsResponse };
  listMonitorHistory: { request: api.ListMonitorHistoryData; response: api.ListMonitorHistoryResponse };
  getMonitor: { request: api.GetMonitorData; response: api.GetMonitorResponse };
  setMonitor: { request: api.SetMonitorData; response: api.SetMonitorResponse };
  deleteMonitor: { request: api.DeleteMonitorData; response: api.DeleteMonitorResponse };
  listWebhooks: { request: api.ListWebhooksData; response: api.ListWebhooksResponse };
  createWebhook: { request: api.CreateWebhookData; response: api.CreateWebhookResponse };
  getWebhook: { request: api.GetWebhookData; response: api.GetWebhookResponse };
  updateWebhook: { request: api.UpdateWebhookData; response: api.UpdateWebhookResponse };
  deleteWebhook: { request: api.DeleteWebhookData; response: api.DeleteWebhookResponse };
  disableWebhook: { request: api.DisableWebhookData; response: api.DisableWebhookResponse };
  enableWebhook: { request: api.EnableWebhookData; response: api.EnableWebhookResponse };
  rotateWebhookSecret: { request: api.RotateWebhookSecretData; response: api.RotateWebhookSecretResponse };
  testWebhook: { request: api.TestWebhookData; response: api.TestWebhookResponse };
  replayEvents: { request: api.ReplayEventsData; response: api.ReplayEventsResponse };
  listDeliveries: { request: api.ListDeliveriesData; response: api.ListDeliveriesResponse };
  getDelivery: { request: api.GetDeliveryData; response: api.GetDeliveryResponse };
  redeliver: { request: api.RedeliverData; response: api.RedeliverResponse };
  listEvents: { request: api.ListEventsData; response: api.ListEventsResponse };
  getEvent: { request: api.GetEventData; response: api.GetEventResponse };
  listNotifications: { request: api.ListNotificationsData; response: api.ListNotificationsResponse };
  getUsage: { request: api.GetUsageData; response: api.GetUsageResponse };
  listPromptStatistics: { request: api.ListPromptStatisticsData; response: api.ListPromptStatisticsResponse };
  getPromptStatistics: { request: api.GetPromptStatisticsData; response: api.GetPromptStatisticsResponse };
  listApiKeys: { request: api.ListApiKeysData; response: api.ListApiKeysResponse };
  createApiKey: { request: api.CreateApiKeyData; response: api.CreateApiKeyResponse };
  getCurrentApiKey: { request: api.GetCurrentApiKeyData; response: api.GetCurrentApiKeyResponse };
  revokeCurrentApiKey: { request: api.RevokeCurrentApiKeyData; response: api.RevokeCurrentApiKeyResponse };
  revokeApiKey: { request: api.RevokeApiKeyData; response: api.RevokeApiKeyResponse };
  getSession: { request: api.GetSessionData; response: api.GetSessionResponse };
  createSession: { request: api.CreateSessionData; response: api.CreateSessionResponse };
  endSession: { request: api.EndSessionData; response: api.EndSessionResponse };
  switchWorkspace: { request: api.SwitchWorkspaceData; response: api.SwitchWorkspaceResponse };
  listSessions: { request: api.ListSessionsData; response: api.ListSessionsResponse };
  endSessionById: { request: api.EndSessionByIdData; response: api.EndSessionByIdResponse };
  listMembers: { request: api.ListMembersData; response: api.ListMembersResponse };
  getMember: { request: api.GetMemberData; response: api.GetMemberResponse };
  updateMember: { request: api.UpdateMemberData; response: api.UpdateMemberResponse };
  removeMember: { request: api.RemoveMemberData; response: api.RemoveMemberResponse };
  getMe: { request: api.GetMeData; response: api.GetMeResponse };
  listMyApiKeys: { request: api.ListMyApiKeysData; response: api.ListMyApiKeysResponse };
  createMyApiKey: { request: api.CreateMyApiKeyData; response: api.CreateMyApiKeyResponse };
  revokeMyApiKey: { request: api.RevokeMyApiKeyData; response: api.RevokeMyApiKeyResponse };
  createDeviceAuthorization: { request: api.CreateDeviceAuthorizationData; response: api.CreateDeviceAuthorizationResponse };
  createDeviceKey: { request: api.CreateDeviceKeyData; response: api.CreateDeviceKeyResponse };
  getDeviceAuthorization: { request: api.GetDeviceAuthorizationData; response: api.GetDeviceAuthorizationResponse };
  approveDeviceAuthorization: { request: api.ApproveDeviceAuthorizationData; response: api.ApproveDeviceAuthorizationResponse };
  denyDeviceAuthorization: { request: api.DenyDeviceAuthorizationData; response: api.DenyDeviceAuthorizationResponse };
  listAuditLog: { request: api.ListAuditLogData; response: api.ListAuditLogResponse };
}

/** Method and path of each. */
export const OPERATIONS: Readonly<Record<keyof Operations, string>> = {
  listPrompts: 'GET /prompts',
  createPrompt: 'POST /prompts',
  resolvePrompts: 'POST /prompts/resolve',
  listPromptVersions: 'GET /prompts/{name}/versions',
  deletePromptVersion: 'DELETE /prompts/{name}/versions/{version}',
  diffPromptVersions: 'GET /prompts/{name}/diff',
  setPromptLabel: 'PUT /prompts/{name}/labels/{label}',
  removePromptLabel: 'DELETE /prompts/{name}/labels/{label}',
  restorePrompt: 'POST /prompts/{name}/restore',
  getPrompt: 'GET /prompts/{name}',
  updatePrompt: 'PUT /prompts/{name}',
  archivePrompt: 'DELETE /prompts/{name}',
  listLabels: 'GET /labels',
  protectLabel: 'PUT /labels/{label}',
  listReleases: 'GET /releases',
  createRelease: 'POST /releases',
  getReleaseNumbers: 'GET /releases/{id}/numbers',
  getRelease: 'GET /releases/{id}',
  approveRelease: 'POST /releases/{id}/approve',
  rejectRelease: 'POST /releases/{id}/reject',
  pauseRelease: 'POST /releases/{id}/pause',
  resumeRelease: 'POST /releases/{id}/resume',
  promoteRelease: 'POST /releases/{id}/promote',
  rollbackRelease: 'POST /releases/{id}/rollback',
  cancelRelease: 'POST /releases/{id}/cancel',
  listExecutions: 'GET /executions',
  createExecution: 'POST /executions',
  getExecution: 'GET /executions/{id}',
  deleteExecution: 'DELETE /executions/{id}',
  cancelExecution: 'POST /executions/{id}/cancel',
  recordExecutions: 'POST /executions/record',
  createChatCompletion: 'POST /chat/completions',
  createResponse: 'POST /responses',
  listModels: 'GET /models',
  getModel: 'GET /models/{name}',
  listProviders: 'GET /providers',
  streamExecution: 'GET /executions/{id}/stream',
  streamEvaluation: 'GET /evaluations/{id}/stream',
  listEvaluations: 'GET /evaluations',
  createEvaluation: 'POST /evaluations',
  estimateEvaluation: 'POST /evaluations/estimate',
  rescoreEvaluation: 'POST /evaluations/{id}/rescore',
  getEvaluation: 'GET /evaluations/{id}',
  deleteEvaluation: 'DELETE /evaluations/{id}',
  listEvaluationResults: 'GET /evaluations/{id}/results',
  storeEvaluationResults: 'POST /evaluations/{id}/results',
  getEvaluationResult: 'GET /evaluations/{id}/results/{seq}',
  getEvaluationInput: 'GET /evaluations/{id}/results/{seq}/input',
  compareEvaluations: 'GET /evaluations/{id}/compare/{other}',
  createCodeEvaluation: 'POST /evaluations/code',
  listOpenExamples: 'GET /evaluations/{id}/open-examples',
  finishEvaluation: 'POST /evaluations/{id}/finish',
  pauseEvaluation: 'POST /evaluations/{id}/pause',
  resumeEvaluation: 'POST /evaluations/{id}/resume',
  cancelEvaluation: 'POST /evaluations/{id}/cancel',
  retryEvaluation: 'POST /evaluations/{id}/retry',
  resubmitBatch: 'POST /evaluations/{id}/batches/{number}/resubmit',
  listEvaluators: 'GET /evaluators',
  listDatasets: 'GET /datasets',
  listDatasetVersions: 'GET /datasets/{name}/versions',
  listDatasetExamples: 'GET /datasets/{name}/examples',
  exportDataset: 'GET /datasets/{name}/export',
  createDatasetFromExecutions: 'POST /datasets/{name}/from-executions',
  getDataset: 'GET /datasets/{name}',
  uploadDataset: 'PUT /datasets/{name}',
  deleteDataset: 'DELETE /datasets/{name}',
  listScores: 'GET /scores',
  createScores: 'POST /scores',
  summarizeScores: 'GET /scores/summary',
  deleteScore: 'DELETE /scores/{id}',
  listScoreDefinitions: 'GET /score-definitions',
  getScoreDefinition: 'GET /score-definitions/{name}',
  setScoreDefinition: 'PUT /score-definitions/{name}',
  deleteScoreDefinition: 'DELETE /score-definitions/{name}',
  createFeedbackToken: 'POST /executions/{id}/feedback-token',
  createFeedback: 'POST /feedback',
  leaseQueueItem: 'POST /queues/{name}/next',
  completeQueueItem: 'POST /queues/{name}/items/{id}/complete',
  skipQueueItem: 'POST /queues/{name}/items/{id}/skip',
  returnQueueItem: 'POST /queues/{name}/items/{id}/back',
  listQueues: 'GET /queues',
  listQueueItems: 'GET /queues/{name}/items',
  addQueueItems: 'POST /queues/{name}/items',
  getQueueAgreement: 'GET /queues/{name}/agreement',
  getQueue: 'GET /queues/{name}',
  setQueue: 'PUT /queues/{name}',
  deleteQueue: 'DELETE /queues/{name}',
  getEvaluatorAgreement: 'GET /evaluators/agreement',
  createBackfill: 'POST /rules/{name}/backfill',
  listBackfills: 'GET /rules/{name}/backfills',
  getBackfill: 'GET /rules/{name}/backfills/{id}',
  pauseBackfill: 'POST /rules/{name}/backfills/{id}/pause',
  cancelBackfill: 'POST /rules/{name}/backfills/{id}/cancel',
  resumeBackfill: 'POST /rules/{name}/backfills/{id}/resume',
  listRules: 'GET /rules',
  getRule: 'GET /rules/{name}',
  setRule: 'PUT /rules/{name}',
  deleteRule: 'DELETE /rules/{name}',
  listSchedules: 'GET /schedules',
  createSchedule: 'POST /schedules',
  getSchedule: 'GET /schedules/{id}',
  deleteSchedule: 'DELETE /schedules/{id}',
  pauseSchedule: 'POST /schedules/{id}/pause',
  resumeSchedule: 'POST /schedules/{id}/resume',
  triggerSchedule: 'POST /schedules/{id}/trigger',
  listMonitors: 'GET /monitors',
  listMonitorHistory: 'GET /monitors/{name}/history',
  getMonitor: 'GET /monitors/{name}',
  setMonitor: 'PUT /monitors/{name}',
  deleteMonitor: 'DELETE /monitors/{name}',
  listWebhooks: 'GET /webhooks',
  createWebhook: 'POST /webhooks',
  getWebhook: 'GET /webhooks/{id}',
  updateWebhook: 'PATCH /webhooks/{id}',
  deleteWebhook: 'DELETE /webhooks/{id}',
  disableWebhook: 'POST /webhooks/{id}/disable',
  enableWebhook: 'POST /webhooks/{id}/enable',
  rotateWebhookSecret: 'POST /webhooks/{id}/rotate-secret',
  testWebhook: 'POST /webhooks/{id}/test',
  replayEvents: 'POST /webhooks/{id}/replay',
  listDeliveries: 'GET /webhooks/{id}/deliveries',
  getDelivery: 'GET /deliveries/{id}',
  redeliver: 'POST /deliveries/{id}/redeliver',
  listEvents: 'GET /events',
  getEvent: 'GET /events/{id}',
  listNotifications: 'GET /notifications',
  getUsage: 'GET /usage',
  listPromptStatistics: 'GET /statistics/prompts',
  getPromptStatistics: 'GET /statistics/prompts/{name}',
  listApiKeys: 'GET /api-keys',
  createApiKey: 'POST /api-keys',
  getCurrentApiKey: 'GET /api-keys/current',
  revokeCurrentApiKey: 'DELETE /api-keys/current',
  revokeApiKey: 'DELETE /api-keys/{id}',
  getSession: 'GET /session',
  createSession: 'POST /session',
  endSession: 'DELETE /session',
  switchWorkspace: 'POST /session/workspace',
  listSessions: 'GET /sessions',
  endSessionById: 'DELETE /sessions/{id}',
  listMembers: 'GET /members',
  getMember: 'GET /members/{id}',
  updateMember: 'PATCH /members/{id}',
  removeMember: 'DELETE /members/{id}',
  getMe: 'GET /me',
  listMyApiKeys: 'GET /me/api-keys',
  createMyApiKey: 'POST /me/api-keys',
  revokeMyApiKey: 'DELETE /me/api-keys/{id}',
  createDeviceAuthorization: 'POST /device/authorizations',
  createDeviceKey: 'POST /device/token',
  getDeviceAuthorization: 'GET /device/authorizations/{user_code}',
  approveDeviceAuthorization: 'POST /device/authorizations/{user_code}/approve',
  denyDeviceAuthorization: 'POST /device/authorizations/{user_code}/deny',
  listAuditLog: 'GET /audit-log',
};

/** Those that take `Idempotency-Key`. */
export const IDEMPOTENT: ReadonlySet<keyof Operations> = new Set([
  'createPrompt' as const,
  'createRelease' as const,
  'createExecution' as const,
  'recordExecutions' as const,
  'createChatCompletion' as const,
  'createResponse' as const,
  'createEvaluation' as const,
  'rescoreEvaluation' as const,
  'createCodeEvaluation' as const,
  'createDatasetFromExecutions' as const,
  'createScores' as const,
  'createFeedbackToken' as const,
  'createBackfill' as const,
  'createSchedule' as const,
  'createWebhook' as const,
  'rotateWebhookSecret' as const,
  'testWebhook' as const,
  'replayEvents' as const,
  'redeliver' as const,
  'createApiKey' as const,
  'createMyApiKey' as const,
]);
