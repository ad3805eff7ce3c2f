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
  listPromptLabels: { request: api.ListPromptLabelsData; response: api.ListPromptLabelsResponse };
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
  countExecutions: { request: api.CountExecutionsData; response: api.CountExecutionsResponse };
  getExecution: { request: api.GetExecutionData; response: api.GetExecutionResponse };
  deleteExecution: { request: api.DeleteExecutionData; response: api.DeleteExecutionResponse };
  listExecutionDeliveries: { request: api.ListExecutionDeliveriesData; response: api.ListExecutionDeliveriesResponse };
  cancelExecution: { request: api.CancelExecutionData; response: api.CancelExecutionResponse };
  recordExecutions: { request: api.RecordExecutionsData; response: api.RecordExecutionsResponse };
  createChatCompletion: { request: api.CreateChatCompletionData; response: api.CreateChatCompletionResponse };
  createResponse: { request: api.CreateResponseData; response: api.CreateResponseResponse };
  listModels: { request: api.ListModelsData; response: api.ListModelsResponse };
  getModel: { request: api.GetModelData; response: api.GetModelResponse };
  listProviders: { request: api.ListProvidersData; response: api.ListProvidersResponse };
  checkParameters: { request: api.CheckParametersData; response: api.CheckParametersResponse };
  testProvider: { request: api.TestProviderData; response: api.TestProviderResponse };
  streamExecution: { request: api.StreamExecutionData; response: api.StreamExecutionResponse };
  streamEvaluation: { request: api.StreamEvaluationData; response: api.StreamEvaluationResponse };
  listEvaluations: { request: api.ListEvaluationsData; response: api.ListEvaluationsResponse };
  createEvaluation: { request: api.CreateEvaluationData; response: api.CreateEvaluationResponse };
  estimateEvaluation: { request: api.EstimateEvaluationData; response: api.EstimateEvaluationResponse };
  rescoreEvaluation: { request: api.RescoreEvaluationData; response: api.RescoreEvaluationResponse };
  getEvaluation: { request: api.GetEvaluationData; response: api.GetEvaluationResponse };
  updateEvaluation: { request: api.UpdateEvaluationData; response: api.UpdateEvaluationResponse };
  deleteEvaluation: { request: api.DeleteEvaluationData; response: api.DeleteEvaluationResponse };
  listEvaluationResults: { request: api.ListEvaluationResultsData; response: api.ListEvaluationResultsResponse };
  storeEvaluationResults: { request: api.StoreEvaluationResultsData; response: api.StoreEvaluationResultsResponse };
  summarizeEvaluationResults: { request: api.SummarizeEvaluationResultsData; response: api.SummarizeEvaluationResultsResponse };
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
  tryEvaluators: { request: api.TryEvaluatorsData; response: api.TryEvaluatorsResponse };
  listImprovements: { request: api.ListImprovementsData; response: api.ListImprovementsResponse };
  createImprovement: { request: api.CreateImprovementData; response: api.CreateImprovementResponse };
  estimateImprovement: { request: api.EstimateImprovementData; response: api.EstimateImprovementResponse };
  suggestPrompt: { request: api.SuggestPromptData; response: api.SuggestPromptResponse };
  getReflectionPrompt: { request: api.GetReflectionPromptData; response: api.GetReflectionPromptResponse };
  getImprovement: { request: api.GetImprovementData; response: api.GetImprovementResponse };
  deleteImprovement: { request: api.DeleteImprovementData; response: api.DeleteImprovementResponse };
  listImprovementCandidates: { request: api.ListImprovementCandidatesData; response: api.ListImprovementCandidatesResponse };
  getImprovementCandidate: { request: api.GetImprovementCandidateData; response: api.GetImprovementCandidateResponse };
  streamImprovement: { request: api.StreamImprovementData; response: api.StreamImprovementResponse };
  pauseImprovement: { request: api.PauseImprovementData; response: api.PauseImprovementResponse };
  resumeImprovement: { request: api.ResumeImprovementData; response: api.ResumeImprovementResponse };
  finishImprovement: { request: api.FinishImprovementData; response: api.FinishImprovementResponse };
  cancelImprovement: { request: api.CancelImprovementData; response: api.CancelImprovementResponse };
  retryImprovement: { request: api.RetryImprovementData; response: api.RetryImprovementResponse };
  acceptImprovement: { request: api.AcceptImprovementData; response: api.AcceptImprovementResponse };
  generateDatasetExamples: { request: api.GenerateDatasetExamplesData; response: api.GenerateDatasetExamplesResponse };
  listDatasets: { request: api.ListDatasetsData; response: api.ListDatasetsResponse };
  listDatasetVersions: { request: api.ListDatasetVersionsData; response: api.ListDatasetVersionsResponse };
  listDatasetExamples: { request: api.ListDatasetExamplesData; response: api.ListDatasetExamplesResponse };
  addDatasetExamples: { request: api.AddDatasetExamplesData; response: api.AddDatasetExamplesResponse };
  exportDataset: { request: api.ExportDatasetData; response: api.ExportDatasetResponse };
  createDatasetFromExecutions: { request: api.CreateDatasetFromExecutionsData; response: api.CreateDatasetFromExecutionsResponse };
  createDatasetFromScores: { request: api.CreateDatasetFromScoresData; response: api.CreateDatasetFromScoresResponse };
  getDataset: { request: api.GetDatasetData; response: api.GetDatasetResponse };
  uploadDataset: { request: api.UploadDatasetData; response: api.UploadDatasetResponse };
  deleteDataset: { request: api.DeleteDatasetData; response: api.DeleteDatasetResponse };
  listSavedEvaluators: { request: api.ListSavedEvaluatorsData; response: api.ListSavedEvaluatorsResponse };
  getSavedEvaluator: { request: api.GetSavedEvaluatorData; response: api.GetSavedEvaluatorResponse };
  setSavedEvaluator: { request: api.SetSavedEvaluatorData; response: api.SetSavedEvaluatorResponse };
  deleteSavedEvaluator: { request: api.DeleteSavedEvaluatorData; response: api.DeleteSavedEvaluatorResponse };
  listScores: { request: api.ListScoresData; response: api.ListScoresResponse };
  createScores: { request: api.CreateScoresData; response: api.CreateScoresResponse };
  summarizeScores: { request: api.SummarizeScoresData; response: api.SummarizeScoresResponse };
  deleteScore: { request: api.DeleteScoreData; response: api.DeleteScoreResponse };
  listScoreDefinitions: { request: api.ListScoreDefinitionsData; response: api.ListScoreDefinitionsResponse };
  getScoreDefinition: { request: api.GetScoreDefinitionData; response: api.GetScoreDefinitionResponse };
  setScoreDefinition: { request: api.SetScoreDefinitionData; response: api.SetScoreDefinitionResponse };
  deleteScoreDefinition: { request: api.DeleteScoreDefinitionData; response: api.DeleteScoreDefinitionResponse };
  createFeedbackToken: { request: api.CreateFeedbackTokenData; response: api.CreateFeedbackTokenResponse };
  createSubjectFeedbackToken: { request: api.CreateSubjectFeedbackTokenData; response: api.CreateSubjectFeedbackTokenResponse };
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
  getMonitorNumbers: { request: api.GetMonitorNumbersData; response: api.GetMonitorNumbersResponse };
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
  sendDeliveryNow: { request: api.SendDeliveryNowData; response: api.SendDeliveryNowResponse };
  redeliver: { request: api.RedeliverData; response: api.RedeliverResponse };
  listEvents: { request: api.ListEventsData; response: api.ListEventsResponse };
  getEvent: { request: api.GetEventData; response: api.GetEventResponse };
  streamChanges: { request: api.StreamChangesData; response: api.StreamChangesResponse };
  listNotifications: { request: api.ListNotificationsData; response: api.ListNotificationsResponse };
  listViews: { request: api.ListViewsData; response: api.ListViewsResponse };
  setView: { request: api.SetViewData; response: api.SetViewResponse };
  deleteView: { request: api.DeleteViewData; response: api.DeleteViewResponse };
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
  listTraces: { request: api.ListTracesData; response: api.ListTracesResponse };
  ingestTraces: { request: api.IngestTracesData; response: api.IngestTracesResponse };
  deleteTracesOfUser: { request: api.DeleteTracesOfUserData; response: api.DeleteTracesOfUserResponse };
  countTraces: { request: api.CountTracesData; response: api.CountTracesResponse };
  getTrace: { request: api.GetTraceData; response: api.GetTraceResponse };
  deleteTrace: { request: api.DeleteTraceData; response: api.DeleteTraceResponse };
  listTraceSteps: { request: api.ListTraceStepsData; response: api.ListTraceStepsResponse };
  getTraceStep: { request: api.GetTraceStepData; response: api.GetTraceStepResponse };
  getTracePolicy: { request: api.GetTracePolicyData; response: api.GetTracePolicyResponse };
  setTracePolicy: { request: api.SetTracePolicyData; response: api.SetTracePolicyResponse };
  listConversations: { request: api.ListConversationsData; response: api.ListConversationsResponse };
  getConversation: { request: api.GetConversationData; response: api.GetConversationResponse };
  deleteConversation: { request: api.DeleteConversationData; response: api.DeleteConversationResponse };
  createDatasetFromTraces: { request: api.CreateDatasetFromTracesData; response: api.CreateDatasetFromTracesResponse };
}

/**
 * HTTP method and path of each, the method of the client that calls it, and what it has: b: a body, q: parameters in its query,
 * i: an `Idempotency-Key`; l: it gives a list by pages, t: text; h: its method is written by hand.
 */
export const OPERATIONS: Readonly<Record<keyof Operations, string>> = {
  listPrompts: 'GET /prompts prompts.list ql',
  createPrompt: 'POST /prompts prompts.create bi',
  resolvePrompts: 'POST /prompts/resolve prompts.resolve b',
  listPromptVersions: 'GET /prompts/{name}/versions prompts.versions ql',
  deletePromptVersion: 'DELETE /prompts/{name}/versions/{version} prompts.deleteVersion',
  diffPromptVersions: 'GET /prompts/{name}/diff prompts.diff q',
  listPromptLabels: 'GET /prompts/{name}/labels prompts.labels l',
  setPromptLabel: 'PUT /prompts/{name}/labels/{label} prompts.setLabel b',
  removePromptLabel: 'DELETE /prompts/{name}/labels/{label} prompts.removeLabel',
  restorePrompt: 'POST /prompts/{name}/restore prompts.restore',
  getPrompt: 'GET /prompts/{name} prompts.fetch q',
  updatePrompt: 'PUT /prompts/{name} prompts.update b',
  archivePrompt: 'DELETE /prompts/{name} prompts.archive',
  listLabels: 'GET /labels labels.list ql',
  protectLabel: 'PUT /labels/{label} labels.protect b',
  listReleases: 'GET /releases releases.list ql',
  createRelease: 'POST /releases releases.start bi',
  getReleaseNumbers: 'GET /releases/{id}/numbers releases.numbers q',
  getRelease: 'GET /releases/{id} releases.get',
  approveRelease: 'POST /releases/{id}/approve releases.approve b',
  rejectRelease: 'POST /releases/{id}/reject releases.reject b',
  pauseRelease: 'POST /releases/{id}/pause releases.pause b',
  resumeRelease: 'POST /releases/{id}/resume releases.resume b',
  promoteRelease: 'POST /releases/{id}/promote releases.promote b',
  rollbackRelease: 'POST /releases/{id}/rollback releases.rollback b',
  cancelRelease: 'POST /releases/{id}/cancel releases.cancel b',
  listExecutions: 'GET /executions executions.list ql',
  createExecution: 'POST /executions executions.create bi',
  countExecutions: 'GET /executions/facets executions.count q',
  getExecution: 'GET /executions/{id} executions.get',
  deleteExecution: 'DELETE /executions/{id} executions.delete',
  listExecutionDeliveries: 'GET /executions/{id}/deliveries executions.deliveries',
  cancelExecution: 'POST /executions/{id}/cancel executions.cancel',
  recordExecutions: 'POST /executions/record executions.record bi',
  createChatCompletion: 'POST /chat/completions chatCompletions.create bi',
  createResponse: 'POST /responses responses.create bi',
  listModels: 'GET /models models.list',
  getModel: 'GET /models/{name} models.get',
  listProviders: 'GET /providers providers.list l',
  checkParameters: 'POST /parameters/check providers.checkParameters b',
  testProvider: 'POST /providers/{name}/test providers.test',
  streamExecution: 'GET /executions/{id}/stream executions.streamOf h',
  streamEvaluation: 'GET /evaluations/{id}/stream evaluations.stream h',
  listEvaluations: 'GET /evaluations evaluations.list ql',
  createEvaluation: 'POST /evaluations evaluations.create bi',
  estimateEvaluation: 'POST /evaluations/estimate evaluations.estimate b',
  rescoreEvaluation: 'POST /evaluations/{id}/rescore evaluations.rescore bi',
  getEvaluation: 'GET /evaluations/{id} evaluations.get',
  updateEvaluation: 'PATCH /evaluations/{id} evaluations.update b',
  deleteEvaluation: 'DELETE /evaluations/{id} evaluations.delete',
  listEvaluationResults: 'GET /evaluations/{id}/results evaluations.results ql',
  storeEvaluationResults: 'POST /evaluations/{id}/results evaluations.storeResults b',
  summarizeEvaluationResults: 'GET /evaluations/{id}/results/summary evaluations.summarizeResults q',
  getEvaluationResult: 'GET /evaluations/{id}/results/{seq} evaluations.result',
  getEvaluationInput: 'GET /evaluations/{id}/results/{seq}/input evaluations.input',
  compareEvaluations: 'GET /evaluations/{id}/compare/{other} evaluations.compare q',
  createCodeEvaluation: 'POST /evaluations/code evaluations.createCode bi',
  listOpenExamples: 'GET /evaluations/{id}/open-examples evaluations.openExamples ql',
  finishEvaluation: 'POST /evaluations/{id}/finish evaluations.finish',
  pauseEvaluation: 'POST /evaluations/{id}/pause evaluations.pause',
  resumeEvaluation: 'POST /evaluations/{id}/resume evaluations.resume b',
  cancelEvaluation: 'POST /evaluations/{id}/cancel evaluations.cancel',
  retryEvaluation: 'POST /evaluations/{id}/retry evaluations.retry',
  resubmitBatch: 'POST /evaluations/{id}/batches/{number}/resubmit evaluations.resubmitBatch',
  listEvaluators: 'GET /evaluators evaluators.list l',
  tryEvaluators: 'POST /evaluators/try evaluators.score b',
  listImprovements: 'GET /improvements improvements.list ql',
  createImprovement: 'POST /improvements improvements.create bi',
  estimateImprovement: 'POST /improvements/estimate improvements.estimate b',
  suggestPrompt: 'POST /improvements/suggest improvements.suggest bi',
  getReflectionPrompt: 'GET /improvements/reflection-prompt improvements.reflectionPrompt',
  getImprovement: 'GET /improvements/{id} improvements.get',
  deleteImprovement: 'DELETE /improvements/{id} improvements.delete',
  listImprovementCandidates: 'GET /improvements/{id}/candidates improvements.candidates ql',
  getImprovementCandidate: 'GET /improvements/{id}/candidates/{number} improvements.candidate',
  streamImprovement: 'GET /improvements/{id}/stream improvements.stream h',
  pauseImprovement: 'POST /improvements/{id}/pause improvements.pause',
  resumeImprovement: 'POST /improvements/{id}/resume improvements.resume b',
  finishImprovement: 'POST /improvements/{id}/finish improvements.finish',
  cancelImprovement: 'POST /improvements/{id}/cancel improvements.cancel',
  retryImprovement: 'POST /improvements/{id}/retry improvements.retry',
  acceptImprovement: 'POST /improvements/{id}/accept improvements.accept b',
  generateDatasetExamples: 'POST /datasets/{name}/generate datasets.generate bi',
  listDatasets: 'GET /datasets datasets.list ql',
  listDatasetVersions: 'GET /datasets/{name}/versions datasets.versions ql',
  listDatasetExamples: 'GET /datasets/{name}/examples datasets.examples ql',
  addDatasetExamples: 'POST /datasets/{name}/examples datasets.addExamples bi',
  exportDataset: 'GET /datasets/{name}/export datasets.export qt',
  createDatasetFromExecutions: 'POST /datasets/{name}/from-executions datasets.createFromExecutions bi',
  createDatasetFromScores: 'POST /datasets/{name}/from-scores datasets.createFromScores bi',
  getDataset: 'GET /datasets/{name} datasets.get q',
  uploadDataset: 'PUT /datasets/{name} datasets.upload bqh',
  deleteDataset: 'DELETE /datasets/{name} datasets.delete',
  listSavedEvaluators: 'GET /saved-evaluators savedEvaluators.list ql',
  getSavedEvaluator: 'GET /saved-evaluators/{name} savedEvaluators.get q',
  setSavedEvaluator: 'PUT /saved-evaluators/{name} savedEvaluators.set b',
  deleteSavedEvaluator: 'DELETE /saved-evaluators/{name} savedEvaluators.delete',
  listScores: 'GET /scores scores.list ql',
  createScores: 'POST /scores scores.create bih',
  summarizeScores: 'GET /scores/summary scores.summary q',
  deleteScore: 'DELETE /scores/{id} scores.delete',
  listScoreDefinitions: 'GET /score-definitions scoreDefinitions.list ql',
  getScoreDefinition: 'GET /score-definitions/{name} scoreDefinitions.get',
  setScoreDefinition: 'PUT /score-definitions/{name} scoreDefinitions.set b',
  deleteScoreDefinition: 'DELETE /score-definitions/{name} scoreDefinitions.delete',
  createFeedbackToken: 'POST /executions/{id}/feedback-token scores.feedbackToken bih',
  createSubjectFeedbackToken: 'POST /feedback-tokens scores.subjectFeedbackToken bi',
  createFeedback: 'POST /feedback scores.giveFeedback b',
  leaseQueueItem: 'POST /queues/{name}/next queues.nextItem',
  completeQueueItem: 'POST /queues/{name}/items/{id}/complete queues.completeItem b',
  skipQueueItem: 'POST /queues/{name}/items/{id}/skip queues.skipItem',
  returnQueueItem: 'POST /queues/{name}/items/{id}/back queues.returnItem',
  listQueues: 'GET /queues queues.list ql',
  listQueueItems: 'GET /queues/{name}/items queues.items ql',
  addQueueItems: 'POST /queues/{name}/items queues.addItems b',
  getQueueAgreement: 'GET /queues/{name}/agreement queues.agreement',
  getQueue: 'GET /queues/{name} queues.get',
  setQueue: 'PUT /queues/{name} queues.set b',
  deleteQueue: 'DELETE /queues/{name} queues.delete',
  getEvaluatorAgreement: 'GET /evaluators/agreement evaluators.agreement q',
  createBackfill: 'POST /rules/{name}/backfill rules.createBackfill bi',
  listBackfills: 'GET /rules/{name}/backfills rules.backfills ql',
  getBackfill: 'GET /rules/{name}/backfills/{id} rules.backfill',
  pauseBackfill: 'POST /rules/{name}/backfills/{id}/pause rules.pauseBackfill',
  cancelBackfill: 'POST /rules/{name}/backfills/{id}/cancel rules.cancelBackfill',
  resumeBackfill: 'POST /rules/{name}/backfills/{id}/resume rules.resumeBackfill b',
  listRules: 'GET /rules rules.list ql',
  getRule: 'GET /rules/{name} rules.get',
  setRule: 'PUT /rules/{name} rules.set b',
  deleteRule: 'DELETE /rules/{name} rules.delete',
  listSchedules: 'GET /schedules schedules.list ql',
  createSchedule: 'POST /schedules schedules.create bi',
  getSchedule: 'GET /schedules/{id} schedules.get',
  deleteSchedule: 'DELETE /schedules/{id} schedules.delete',
  pauseSchedule: 'POST /schedules/{id}/pause schedules.pause',
  resumeSchedule: 'POST /schedules/{id}/resume schedules.resume',
  triggerSchedule: 'POST /schedules/{id}/trigger schedules.trigger',
  listMonitors: 'GET /monitors monitors.list ql',
  listMonitorHistory: 'GET /monitors/{name}/history monitors.history ql',
  getMonitorNumbers: 'GET /monitors/{name}/history/numbers monitors.numbers',
  getMonitor: 'GET /monitors/{name} monitors.get',
  setMonitor: 'PUT /monitors/{name} monitors.set b',
  deleteMonitor: 'DELETE /monitors/{name} monitors.delete',
  listWebhooks: 'GET /webhooks webhooks.list ql',
  createWebhook: 'POST /webhooks webhooks.create bi',
  getWebhook: 'GET /webhooks/{id} webhooks.get',
  updateWebhook: 'PATCH /webhooks/{id} webhooks.update b',
  deleteWebhook: 'DELETE /webhooks/{id} webhooks.delete',
  disableWebhook: 'POST /webhooks/{id}/disable webhooks.disable',
  enableWebhook: 'POST /webhooks/{id}/enable webhooks.enable',
  rotateWebhookSecret: 'POST /webhooks/{id}/rotate-secret webhooks.rotateSecret bi',
  testWebhook: 'POST /webhooks/{id}/test webhooks.test bi',
  replayEvents: 'POST /webhooks/{id}/replay webhooks.replay bi',
  listDeliveries: 'GET /webhooks/{id}/deliveries webhooks.deliveries ql',
  getDelivery: 'GET /deliveries/{id} deliveries.get',
  sendDeliveryNow: 'POST /deliveries/{id}/send-now deliveries.sendNow',
  redeliver: 'POST /deliveries/{id}/redeliver deliveries.redeliver i',
  listEvents: 'GET /events events.list ql',
  getEvent: 'GET /events/{id} events.get',
  streamChanges: 'GET /changes events.changes h',
  listNotifications: 'GET /notifications notifications.list ql',
  listViews: 'GET /views views.list ql',
  setView: 'PUT /views/{name} views.set b',
  deleteView: 'DELETE /views/{name} views.delete q',
  getUsage: 'GET /usage usage q',
  listPromptStatistics: 'GET /statistics/prompts statistics.prompts ql',
  getPromptStatistics: 'GET /statistics/prompts/{name} statistics.prompt q',
  listApiKeys: 'GET /api-keys keys.list ql',
  createApiKey: 'POST /api-keys keys.create bi',
  getCurrentApiKey: 'GET /api-keys/current keys.current',
  revokeCurrentApiKey: 'DELETE /api-keys/current keys.revokeCurrent',
  revokeApiKey: 'DELETE /api-keys/{id} keys.revoke',
  getSession: 'GET /session sessions.current',
  createSession: 'POST /session sessions.create b',
  endSession: 'DELETE /session sessions.endCurrent',
  switchWorkspace: 'POST /session/workspace sessions.switchWorkspace b',
  listSessions: 'GET /sessions sessions.list ql',
  endSessionById: 'DELETE /sessions/{id} sessions.end',
  listMembers: 'GET /members members.list ql',
  getMember: 'GET /members/{id} members.get',
  updateMember: 'PATCH /members/{id} members.update b',
  removeMember: 'DELETE /members/{id} members.remove',
  getMe: 'GET /me me.get',
  listMyApiKeys: 'GET /me/api-keys me.keys ql',
  createMyApiKey: 'POST /me/api-keys me.createKey bi',
  revokeMyApiKey: 'DELETE /me/api-keys/{id} me.revokeKey',
  createDeviceAuthorization: 'POST /device/authorizations devices.authorize b',
  createDeviceKey: 'POST /device/token devices.key b',
  getDeviceAuthorization: 'GET /device/authorizations/{user_code} devices.get',
  approveDeviceAuthorization: 'POST /device/authorizations/{user_code}/approve devices.approve b',
  denyDeviceAuthorization: 'POST /device/authorizations/{user_code}/deny devices.deny',
  listAuditLog: 'GET /audit-log auditLog.list ql',
  listTraces: 'GET /traces traces.list ql',
  ingestTraces: 'POST /traces traces.ingest b',
  deleteTracesOfUser: 'DELETE /traces traces.deleteOfUser q',
  countTraces: 'GET /traces/facets traces.count q',
  getTrace: 'GET /traces/{id} traces.get',
  deleteTrace: 'DELETE /traces/{id} traces.delete',
  listTraceSteps: 'GET /traces/{id}/steps traces.steps ql',
  getTraceStep: 'GET /traces/{id}/steps/{span_id} traces.step',
  getTracePolicy: 'GET /trace-policy traces.policy',
  setTracePolicy: 'PUT /trace-policy traces.setPolicy b',
  listConversations: 'GET /conversations conversations.list ql',
  getConversation: 'GET /conversations/{name} conversations.traces ql',
  deleteConversation: 'DELETE /conversations/{name} conversations.delete',
  createDatasetFromTraces: 'POST /datasets/{name}/from-traces datasets.createFromTraces bi',
};
