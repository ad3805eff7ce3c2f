// Made by `npm run generate`: do not edit.
import type { ApiPromise, CallOptions, QueryOf } from '../call.ts';
import type { List } from '../pages.ts';
import type * as api from './types.gen.ts';

export interface PromptsOperations {
  /** List prompts: `GET /prompts` */
  list(query?: QueryOf<api.ListPromptsData>, options?: CallOptions): List<api.PromptPage['data'][number]>;
  /** Create a prompt, or the next version of an existing one: `POST /prompts` */
  create(body: NonNullable<api.CreatePromptData['body']>, options?: CallOptions): ApiPromise<api.Prompt>;
  /** Resolve many prompts, skipping unchanged ones: `POST /prompts/resolve` */
  resolve(body: NonNullable<api.ResolvePromptsData['body']>, options?: CallOptions): ApiPromise<api.ResolvedPrompts>;
  /** List the versions of a prompt, newest first: `GET /prompts/{name}/versions` */
  versions(name: string, query?: QueryOf<api.ListPromptVersionsData>, options?: CallOptions): List<api.PromptVersionPage['data'][number]>;
  /** Delete an unused version of a prompt: `DELETE /prompts/{name}/versions/{version}` */
  deleteVersion(name: string, version: number, options?: CallOptions): ApiPromise<api.Prompt>;
  /** Compare two versions of a prompt, field by field: `GET /prompts/{name}/diff` */
  diff(name: string, query?: QueryOf<api.DiffPromptVersionsData>, options?: CallOptions): ApiPromise<api.VersionDiff>;
  /** List the labels of a prompt and the versions they point to: `GET /prompts/{name}/labels` */
  labels(name: string, options?: CallOptions): List<api.PromptLabels['data'][number]>;
  /** Create or update a label: `PUT /prompts/{name}/labels/{label}` */
  setLabel(name: string, label: string, body: NonNullable<api.SetPromptLabelData['body']>, options?: CallOptions): ApiPromise<api.Prompt>;
  /** Delete a label: `DELETE /prompts/{name}/labels/{label}` */
  removeLabel(name: string, label: string, options?: CallOptions): ApiPromise<api.Prompt>;
  /** Restore an archived prompt: `POST /prompts/{name}/restore` */
  restore(name: string, options?: CallOptions): ApiPromise<api.Prompt>;
  /** Retrieve a prompt: its latest version by default: `GET /prompts/{name}` */
  fetch(name: string, query?: QueryOf<api.GetPromptData>, options?: CallOptions): ApiPromise<api.Prompt>;
  /** Update a prompt by creating its next version; omitted fields keep their values: `PUT /prompts/{name}` */
  update(name: string, body: NonNullable<api.UpdatePromptData['body']>, options?: CallOptions): ApiPromise<api.Prompt>;
  /** Archive a prompt: `DELETE /prompts/{name}` */
  archive(name: string, options?: CallOptions): ApiPromise<api.Prompt>;
}

export interface LabelsOperations {
  /** List labels on prompts and protected labels, by name: `GET /labels` */
  list(query?: QueryOf<api.ListLabelsData>, options?: CallOptions): List<api.LabelPage['data'][number]>;
  /** Protect or unprotect a label: `PUT /labels/{label}` */
  protect(label: string, body: NonNullable<api.ProtectLabelData['body']>, options?: CallOptions): ApiPromise<api.Label>;
}

export interface ReleasesOperations {
  /** List releases, newest first: `GET /releases` */
  list(query?: QueryOf<api.ListReleasesData>, options?: CallOptions): List<api.ReleasePage['data'][number]>;
  /** Create a release that moves a label step by step: `POST /releases` */
  start(body: NonNullable<api.CreateReleaseData['body']>, options?: CallOptions): ApiPromise<api.Release>;
  /** Retrieve the metrics of both arms over time: `GET /releases/{id}/numbers` */
  numbers(id: string, query?: QueryOf<api.GetReleaseNumbersData>, options?: CallOptions): ApiPromise<api.ReleaseNumbers>;
  /** Retrieve a release: its steps, decisions and metrics: `GET /releases/{id}` */
  get(id: string, options?: CallOptions): ApiPromise<api.Release>;
  /** Approve a release: `POST /releases/{id}/approve` */
  approve(id: string, body?: NonNullable<api.ApproveReleaseData['body']>, options?: CallOptions): ApiPromise<api.Release>;
  /** Reject a release: `POST /releases/{id}/reject` */
  reject(id: string, body?: NonNullable<api.RejectReleaseData['body']>, options?: CallOptions): ApiPromise<api.Release>;
  /** Pause a release: `POST /releases/{id}/pause` */
  pause(id: string, body?: NonNullable<api.PauseReleaseData['body']>, options?: CallOptions): ApiPromise<api.Release>;
  /** Resume a paused release: `POST /releases/{id}/resume` */
  resume(id: string, body?: NonNullable<api.ResumeReleaseData['body']>, options?: CallOptions): ApiPromise<api.Release>;
  /** Promote the candidate of a release now: `POST /releases/{id}/promote` */
  promote(id: string, body?: NonNullable<api.PromoteReleaseData['body']>, options?: CallOptions): ApiPromise<api.Release>;
  /** Roll back a release to the stable version: `POST /releases/{id}/rollback` */
  rollback(id: string, body?: NonNullable<api.RollbackReleaseData['body']>, options?: CallOptions): ApiPromise<api.Release>;
  /** Cancel a release: `POST /releases/{id}/cancel` */
  cancel(id: string, body?: NonNullable<api.CancelReleaseData['body']>, options?: CallOptions): ApiPromise<api.Release>;
}

export interface ExecutionsOperations {
  /** List executions, newest first by default: `GET /executions` */
  list(query?: QueryOf<api.ListExecutionsData>, options?: CallOptions): List<api.ExecutionPage['data'][number]>;
  /** Run a prompt: `POST /executions` */
  create(body: NonNullable<api.CreateExecutionData['body']>, options?: CallOptions): ApiPromise<api.Execution>;
  /** Count executions by status, prompt, version, model, label, origin and error: `GET /executions/facets` */
  count(query?: QueryOf<api.CountExecutionsData>, options?: CallOptions): ApiPromise<api.ExecutionFacets>;
  /** Retrieve an execution: its output, tokens, cost and latency: `GET /executions/{id}` */
  get(id: string, options?: CallOptions): ApiPromise<api.Execution>;
  /** Delete an ended execution: `DELETE /executions/{id}` */
  delete(id: string, options?: CallOptions): ApiPromise<api.Execution>;
  /** List the webhook deliveries of an execution, oldest first: `GET /executions/{id}/deliveries` */
  deliveries(id: string, options?: CallOptions): ApiPromise<api.ExecutionDeliveries>;
  /** Cancel an execution: `POST /executions/{id}/cancel` */
  cancel(id: string, options?: CallOptions): ApiPromise<api.Execution>;
  /** Record runs made outside the service: `POST /executions/record` */
  record(body: NonNullable<api.RecordExecutionsData['body']>, options?: CallOptions): ApiPromise<api.RecordedRuns>;
}

export interface ChatCompletionsOperations {
  /** Run a prompt in OpenAI's Chat Completions format: `POST /chat/completions` */
  create(body: NonNullable<api.CreateChatCompletionData['body']>, options?: CallOptions): ApiPromise<api.ChatCompletion>;
}

export interface ResponsesOperations {
  /** Run a prompt in OpenAI's Responses API format: `POST /responses` */
  create(body: NonNullable<api.CreateResponseData['body']>, options?: CallOptions): ApiPromise<api.ModelResponse>;
}

export interface ModelsOperations {
  /** List prompts as models, by name: `GET /models` */
  list(options?: CallOptions): ApiPromise<api.ModelList>;
  /** Retrieve a prompt as a model: `GET /models/{name}` */
  get(name: string, options?: CallOptions): ApiPromise<api.Model>;
}

export interface ProvidersOperations {
  /** List providers and their models, with prices: `GET /providers` */
  list(options?: CallOptions): List<api.ProviderList['data'][number]>;
  /** Check whether a model supports parameters: `POST /parameters/check` */
  checkParameters(body: NonNullable<api.CheckParametersData['body']>, options?: CallOptions): ApiPromise<api.ParametersCheck>;
  /** Test the connection to a provider: `POST /providers/{name}/test` */
  test(name: string, options?: CallOptions): ApiPromise<api.ProviderTest>;
}

export interface EvaluationsOperations {
  /** List evaluations, newest first: `GET /evaluations` */
  list(query?: QueryOf<api.ListEvaluationsData>, options?: CallOptions): List<api.EvaluationPage['data'][number]>;
  /** Evaluate a prompt over a dataset or inline examples: `POST /evaluations` */
  create(body: NonNullable<api.CreateEvaluationData['body']>, options?: CallOptions): ApiPromise<api.CreatedEvaluation>;
  /** Estimate what an evaluation would cost: `POST /evaluations/estimate` */
  estimate(body: NonNullable<api.EstimateEvaluationData['body']>, options?: CallOptions): ApiPromise<api.EvaluationEstimate>;
  /** Rescore the outputs of a completed evaluation: `POST /evaluations/{id}/rescore` */
  rescore(id: string, body?: NonNullable<api.RescoreEvaluationData['body']>, options?: CallOptions): ApiPromise<api.CreatedEvaluation>;
  /** Retrieve an evaluation: its progress, score, tokens and cost: `GET /evaluations/{id}` */
  get(id: string, options?: CallOptions): ApiPromise<api.Evaluation>;
  /** Name an evaluation: `PATCH /evaluations/{id}` */
  update(id: string, body: NonNullable<api.UpdateEvaluationData['body']>, options?: CallOptions): ApiPromise<api.Evaluation>;
  /** Delete an ended evaluation and its results: `DELETE /evaluations/{id}` */
  delete(id: string, options?: CallOptions): ApiPromise<api.Evaluation>;
  /** List the results of the examples: `GET /evaluations/{id}/results` */
  results(id: string, query?: QueryOf<api.ListEvaluationResultsData, 'format'>, options?: CallOptions): List<api.EvaluationResultPage['data'][number]>;
  /** Store results of a code evaluation: `POST /evaluations/{id}/results` */
  storeResults(id: string, body: NonNullable<api.StoreEvaluationResultsData['body']>, options?: CallOptions): ApiPromise<api.StoredCodeResults>;
  /** Summarize the results that match the filters: `GET /evaluations/{id}/results/summary` */
  summarizeResults(id: string, query?: QueryOf<api.SummarizeEvaluationResultsData>, options?: CallOptions): ApiPromise<api.EvaluationResultsSummary>;
  /** Retrieve the result of one example: `GET /evaluations/{id}/results/{seq}` */
  result(id: string, seq: number, options?: CallOptions): ApiPromise<api.EvaluationResult>;
  /** Retrieve the model input of one example: `GET /evaluations/{id}/results/{seq}/input` */
  input(id: string, seq: number, options?: CallOptions): ApiPromise<api.EvaluationInput>;
  /** Compare an evaluation with an earlier one: `GET /evaluations/{id}/compare/{other}` */
  compare(id: string, other: string, query?: QueryOf<api.CompareEvaluationsData>, options?: CallOptions): ApiPromise<api.EvaluationComparison>;
  /** Create an evaluation of code that the caller runs: `POST /evaluations/code` */
  createCode(body: NonNullable<api.CreateCodeEvaluationData['body']>, options?: CallOptions): ApiPromise<api.Evaluation>;
  /** List the examples that have no result yet: `GET /evaluations/{id}/open-examples` */
  openExamples(id: string, query?: QueryOf<api.ListOpenExamplesData>, options?: CallOptions): List<api.OpenExamplePage['data'][number]>;
  /** Finish a code evaluation: `POST /evaluations/{id}/finish` */
  finish(id: string, options?: CallOptions): ApiPromise<api.Evaluation>;
  /** Pause an evaluation: `POST /evaluations/{id}/pause` */
  pause(id: string, options?: CallOptions): ApiPromise<api.Evaluation>;
  /** Resume a paused evaluation, optionally with a higher budget: `POST /evaluations/{id}/resume` */
  resume(id: string, body?: NonNullable<api.ResumeEvaluationData['body']>, options?: CallOptions): ApiPromise<api.Evaluation>;
  /** Cancel an evaluation: `POST /evaluations/{id}/cancel` */
  cancel(id: string, options?: CallOptions): ApiPromise<api.Evaluation>;
  /** Retry the failed examples of an ended evaluation: `POST /evaluations/{id}/retry` */
  retry(id: string, options?: CallOptions): ApiPromise<api.Evaluation>;
  /** Resubmit a batch in an unknown state: `POST /evaluations/{id}/batches/{number}/resubmit` */
  resubmitBatch(id: string, number: number, options?: CallOptions): ApiPromise<api.Evaluation>;
}

export interface EvaluatorsOperations {
  /** List the types of evaluators, with their options: `GET /evaluators` */
  list(options?: CallOptions): List<api.EvaluatorTypeList['data'][number]>;
  /** Score one output: `POST /evaluators/try` */
  score(body: NonNullable<api.TryEvaluatorsData['body']>, options?: CallOptions): ApiPromise<api.TriedScores>;
  /** Compare evaluator scores with human scores: `GET /evaluators/agreement` */
  agreement(query: QueryOf<api.GetEvaluatorAgreementData>, options?: CallOptions): ApiPromise<api.EvaluatorAgreement>;
}

export interface ImprovementsOperations {
  /** List improvements, newest first: `GET /improvements` */
  list(query?: QueryOf<api.ListImprovementsData>, options?: CallOptions): List<api.ImprovementPage['data'][number]>;
  /** Create an improvement: a search for a better version of a prompt: `POST /improvements` */
  create(body: NonNullable<api.CreateImprovementData['body']>, options?: CallOptions): ApiPromise<api.Improvement>;
  /** Estimate what an improvement would cost, and what it could prove: `POST /improvements/estimate` */
  estimate(body: NonNullable<api.EstimateImprovementData['body']>, options?: CallOptions): ApiPromise<api.ImprovementEstimate>;
  /** Suggest a better prompt from examples that fail, with one call: `POST /improvements/suggest` */
  suggest(body: NonNullable<api.SuggestPromptData['body']>, options?: CallOptions): ApiPromise<api.PromptSuggestion>;
  /** Retrieve the prompt that asks for candidates unless another is given: `GET /improvements/reflection-prompt` */
  reflectionPrompt(options?: CallOptions): ApiPromise<api.ReflectionPrompt>;
  /** Retrieve an improvement: its progress, spending and verdict: `GET /improvements/{id}` */
  get(id: string, options?: CallOptions): ApiPromise<api.Improvement>;
  /** Delete an ended improvement, its candidates and their evaluations: `DELETE /improvements/{id}` */
  delete(id: string, options?: CallOptions): ApiPromise<api.Improvement>;
  /** List the candidates of an improvement by number: `GET /improvements/{id}/candidates` */
  candidates(id: string, query?: QueryOf<api.ListImprovementCandidatesData>, options?: CallOptions): List<api.ImprovementCandidatePage['data'][number]>;
  /** Retrieve a candidate of an improvement, with what it changes: `GET /improvements/{id}/candidates/{number}` */
  candidate(id: string, number: number, options?: CallOptions): ApiPromise<api.ImprovementCandidate>;
  /** Pause an improvement: `POST /improvements/{id}/pause` */
  pause(id: string, options?: CallOptions): ApiPromise<api.Improvement>;
  /** Resume a paused improvement, optionally with a higher limit: `POST /improvements/{id}/resume` */
  resume(id: string, body?: NonNullable<api.ResumeImprovementData['body']>, options?: CallOptions): ApiPromise<api.Improvement>;
  /** End the search of an improvement, and have its verdict now: `POST /improvements/{id}/finish` */
  finish(id: string, options?: CallOptions): ApiPromise<api.Improvement>;
  /** Cancel an improvement: `POST /improvements/{id}/cancel` */
  cancel(id: string, options?: CallOptions): ApiPromise<api.Improvement>;
  /** Retry a failed improvement from where it was: `POST /improvements/{id}/retry` */
  retry(id: string, options?: CallOptions): ApiPromise<api.Improvement>;
  /** Accept a candidate: create a version of it, and optionally a release: `POST /improvements/{id}/accept` */
  accept(id: string, body?: NonNullable<api.AcceptImprovementData['body']>, options?: CallOptions): ApiPromise<api.Improvement>;
}

export interface DatasetsOperations {
  /** Generate examples for a dataset from a prompt, with one call: `POST /datasets/{name}/generate` */
  generate(name: string, body: NonNullable<api.GenerateDatasetExamplesData['body']>, options?: CallOptions): ApiPromise<api.GeneratedExamples>;
  /** List datasets by name, each with its latest version: `GET /datasets` */
  list(query?: QueryOf<api.ListDatasetsData>, options?: CallOptions): List<api.DatasetPage['data'][number]>;
  /** List the versions of a dataset, newest first: `GET /datasets/{name}/versions` */
  versions(name: string, query?: QueryOf<api.ListDatasetVersionsData>, options?: CallOptions): List<api.DatasetPage['data'][number]>;
  /** List the examples of a dataset version, in order: `GET /datasets/{name}/examples` */
  examples(name: string, query?: QueryOf<api.ListDatasetExamplesData>, options?: CallOptions): List<api.DatasetExamplePage['data'][number]>;
  /** Add examples to a dataset: `POST /datasets/{name}/examples` */
  addExamples(name: string, body: NonNullable<api.AddDatasetExamplesData['body']>, options?: CallOptions): ApiPromise<api.DatasetChange>;
  /** Export a dataset version as JSON Lines or CSV: `GET /datasets/{name}/export` */
  export(name: string, query?: QueryOf<api.ExportDatasetData>, options?: CallOptions): ApiPromise<string>;
  /** Add executions to a dataset: `POST /datasets/{name}/from-executions` */
  createFromExecutions(name: string, body: NonNullable<api.CreateDatasetFromExecutionsData['body']>, options?: CallOptions): ApiPromise<api.DatasetChange>;
  /** Add what people scored to a dataset, as examples for a judge: `POST /datasets/{name}/from-scores` */
  createFromScores(name: string, body: NonNullable<api.CreateDatasetFromScoresData['body']>, options?: CallOptions): ApiPromise<api.DatasetChange>;
  /** Retrieve a dataset: its latest version by default: `GET /datasets/{name}` */
  get(name: string, query?: QueryOf<api.GetDatasetData>, options?: CallOptions): ApiPromise<api.Dataset>;
  /** Delete a dataset, its versions and its examples: `DELETE /datasets/{name}` */
  delete(name: string, options?: CallOptions): ApiPromise<api.Dataset>;
  /** Add traces, or steps of traces, to a dataset: `POST /datasets/{name}/from-traces` */
  createFromTraces(name: string, body: NonNullable<api.CreateDatasetFromTracesData['body']>, options?: CallOptions): ApiPromise<api.DatasetChange>;
}

export interface SavedEvaluatorsOperations {
  /** List saved evaluators, each with its newest version: `GET /saved-evaluators` */
  list(query?: QueryOf<api.ListSavedEvaluatorsData>, options?: CallOptions): List<api.SavedEvaluatorPage['data'][number]>;
  /** Retrieve a saved evaluator, or an older version of it: `GET /saved-evaluators/{name}` */
  get(name: string, query?: QueryOf<api.GetSavedEvaluatorData>, options?: CallOptions): ApiPromise<api.SavedEvaluator>;
  /** Save an evaluator, or a new version of it: `PUT /saved-evaluators/{name}` */
  set(name: string, body: NonNullable<api.SetSavedEvaluatorData['body']>, options?: CallOptions): ApiPromise<api.SavedEvaluator>;
  /** Delete a saved evaluator with all its versions: `DELETE /saved-evaluators/{name}` */
  delete(name: string, options?: CallOptions): ApiPromise<api.SavedEvaluator>;
}

export interface ScoresOperations {
  /** List scores, newest first: `GET /scores` */
  list(query?: QueryOf<api.ListScoresData, 'format'>, options?: CallOptions): List<api.ScorePage['data'][number]>;
  /** Summarize scores by prompt, version, label, arm and day: `GET /scores/summary` */
  summary(query?: QueryOf<api.SummarizeScoresData>, options?: CallOptions): ApiPromise<api.ScoreSummary>;
  /** Delete a score: `DELETE /scores/{id}` */
  delete(id: string, options?: CallOptions): ApiPromise<api.Score>;
  /** Create a feedback token for a trace, a step or a conversation: `POST /feedback-tokens` */
  subjectFeedbackToken(body: NonNullable<api.CreateSubjectFeedbackTokenData['body']>, options?: CallOptions): ApiPromise<api.SubjectFeedbackToken>;
  /** Submit a score with a feedback token: `POST /feedback` */
  giveFeedback(body: NonNullable<api.CreateFeedbackData['body']>, options?: CallOptions): ApiPromise<api.Feedback>;
}

export interface ScoreDefinitionsOperations {
  /** List score names and their definitions: `GET /score-definitions` */
  list(query?: QueryOf<api.ListScoreDefinitionsData>, options?: CallOptions): List<api.ScoreDefinitionPage['data'][number]>;
  /** Retrieve a score definition: `GET /score-definitions/{name}` */
  get(name: string, options?: CallOptions): ApiPromise<api.ScoreDefinition>;
  /** Create or replace a score definition: `PUT /score-definitions/{name}` */
  set(name: string, body: NonNullable<api.SetScoreDefinitionData['body']>, options?: CallOptions): ApiPromise<api.ScoreDefinition>;
  /** Delete a score definition: `DELETE /score-definitions/{name}` */
  delete(name: string, options?: CallOptions): ApiPromise<api.ScoreDefinition>;
}

export interface QueuesOperations {
  /** Lease the next item of a queue for review: `POST /queues/{name}/next` */
  nextItem(name: string, options?: CallOptions): ApiPromise<api.NextQueueItem>;
  /** Complete an item with scores and an optional correction: `POST /queues/{name}/items/{id}/complete` */
  completeItem(name: string, id: string, body: NonNullable<api.CompleteQueueItemData['body']>, options?: CallOptions): ApiPromise<api.QueueItem>;
  /** Skip an item and leave it to other reviewers: `POST /queues/{name}/items/{id}/skip` */
  skipItem(name: string, id: string, options?: CallOptions): ApiPromise<api.QueueItem>;
  /** Return an item: undo its lease, skip or completion: `POST /queues/{name}/items/{id}/back` */
  returnItem(name: string, id: string, options?: CallOptions): ApiPromise<api.QueueItem>;
  /** List queues by name: `GET /queues` */
  list(query?: QueryOf<api.ListQueuesData>, options?: CallOptions): List<api.QueuePage['data'][number]>;
  /** List the items of a queue in the order they were added: `GET /queues/{name}/items` */
  items(name: string, query?: QueryOf<api.ListQueueItemsData>, options?: CallOptions): List<api.QueueItemPage['data'][number]>;
  /** Add executions, examples of evaluations, traces, steps or pairs of outputs to a queue: `POST /queues/{name}/items` */
  addItems(name: string, body: NonNullable<api.AddQueueItemsData['body']>, options?: CallOptions): ApiPromise<api.AddedQueueItems>;
  /** Measure reviewer agreement in a queue: `GET /queues/{name}/agreement` */
  agreement(name: string, options?: CallOptions): ApiPromise<api.QueueAgreement>;
  /** Retrieve a queue and its progress: `GET /queues/{name}` */
  get(name: string, options?: CallOptions): ApiPromise<api.Queue>;
  /** Create a queue, or replace its settings: `PUT /queues/{name}` */
  set(name: string, body: NonNullable<api.SetQueueData['body']>, options?: CallOptions): ApiPromise<api.Queue>;
  /** Delete a queue and its items: `DELETE /queues/{name}` */
  delete(name: string, options?: CallOptions): ApiPromise<api.Queue>;
}

export interface RulesOperations {
  /** Create a backfill that scores past executions by a rule: `POST /rules/{name}/backfill` */
  createBackfill(name: string, body: NonNullable<api.CreateBackfillData['body']>, options?: CallOptions): ApiPromise<api.Backfill>;
  /** List backfills of a rule, newest first: `GET /rules/{name}/backfills` */
  backfills(name: string, query?: QueryOf<api.ListBackfillsData>, options?: CallOptions): List<api.BackfillPage['data'][number]>;
  /** Retrieve a backfill and its progress: `GET /rules/{name}/backfills/{id}` */
  backfill(name: string, id: string, options?: CallOptions): ApiPromise<api.Backfill>;
  /** Pause a backfill: `POST /rules/{name}/backfills/{id}/pause` */
  pauseBackfill(name: string, id: string, options?: CallOptions): ApiPromise<api.Backfill>;
  /** Cancel a backfill and keep its scores: `POST /rules/{name}/backfills/{id}/cancel` */
  cancelBackfill(name: string, id: string, options?: CallOptions): ApiPromise<api.Backfill>;
  /** Resume a paused backfill, optionally with a higher budget: `POST /rules/{name}/backfills/{id}/resume` */
  resumeBackfill(name: string, id: string, body?: NonNullable<api.ResumeBackfillData['body']>, options?: CallOptions): ApiPromise<api.Backfill>;
  /** List rules by name: `GET /rules` */
  list(query?: QueryOf<api.ListRulesData>, options?: CallOptions): List<api.RulePage['data'][number]>;
  /** Retrieve a rule, its counts and its spending: `GET /rules/{name}` */
  get(name: string, options?: CallOptions): ApiPromise<api.Rule>;
  /** Create or replace a rule that scores executions as they complete, or traces as they settle: `PUT /rules/{name}` */
  set(name: string, body: NonNullable<api.SetRuleData['body']>, options?: CallOptions): ApiPromise<api.Rule>;
  /** Delete a rule and its backfills, and keep its scores: `DELETE /rules/{name}` */
  delete(name: string, options?: CallOptions): ApiPromise<api.Rule>;
}

export interface SchedulesOperations {
  /** List schedules, newest first: `GET /schedules` */
  list(query?: QueryOf<api.ListSchedulesData>, options?: CallOptions): List<api.SchedulePage['data'][number]>;
  /** Create a schedule of evaluations: `POST /schedules` */
  create(body: NonNullable<api.CreateScheduleData['body']>, options?: CallOptions): ApiPromise<api.Schedule>;
  /** Retrieve a schedule and its next runs: `GET /schedules/{id}` */
  get(id: string, options?: CallOptions): ApiPromise<api.Schedule>;
  /** Delete a schedule and keep its evaluations: `DELETE /schedules/{id}` */
  delete(id: string, options?: CallOptions): ApiPromise<api.Schedule>;
  /** Pause a schedule: `POST /schedules/{id}/pause` */
  pause(id: string, options?: CallOptions): ApiPromise<api.Schedule>;
  /** Resume a paused schedule: `POST /schedules/{id}/resume` */
  resume(id: string, options?: CallOptions): ApiPromise<api.Schedule>;
  /** Trigger a schedule now: `POST /schedules/{id}/trigger` */
  trigger(id: string, options?: CallOptions): ApiPromise<api.Schedule>;
}

export interface MonitorsOperations {
  /** List monitors by name: `GET /monitors` */
  list(query?: QueryOf<api.ListMonitorsData>, options?: CallOptions): List<api.MonitorPage['data'][number]>;
  /** List the state changes of a monitor, newest first: `GET /monitors/{name}/history` */
  history(name: string, query?: QueryOf<api.ListMonitorHistoryData>, options?: CallOptions): List<api.MonitorHistory['data'][number]>;
  /** Retrieve what the checks of a monitor measure over time: `GET /monitors/{name}/history/numbers` */
  numbers(name: string, options?: CallOptions): ApiPromise<api.MonitorNumbers>;
  /** Retrieve a monitor, its state and its latest measurements: `GET /monitors/{name}` */
  get(name: string, options?: CallOptions): ApiPromise<api.Monitor>;
  /** Create or replace a monitor: `PUT /monitors/{name}` */
  set(name: string, body: NonNullable<api.SetMonitorData['body']>, options?: CallOptions): ApiPromise<api.Monitor>;
  /** Delete a monitor and its history, and end any alert: `DELETE /monitors/{name}` */
  delete(name: string, options?: CallOptions): ApiPromise<api.Monitor>;
}

export interface WebhooksOperations {
  /** List webhooks, newest first: `GET /webhooks` */
  list(query?: QueryOf<api.ListWebhooksData>, options?: CallOptions): List<api.WebhookPage['data'][number]>;
  /** Create a webhook: `POST /webhooks` */
  create(body: NonNullable<api.CreateWebhookData['body']>, options?: CallOptions): ApiPromise<api.WebhookWithSecret>;
  /** Retrieve a webhook: `GET /webhooks/{id}` */
  get(id: string, options?: CallOptions): ApiPromise<api.Webhook>;
  /** Update a webhook: `PATCH /webhooks/{id}` */
  update(id: string, body: NonNullable<api.UpdateWebhookData['body']>, options?: CallOptions): ApiPromise<api.Webhook>;
  /** Delete a webhook: `DELETE /webhooks/{id}` */
  delete(id: string, options?: CallOptions): ApiPromise<api.Webhook>;
  /** Disable a webhook and abandon its unfinished deliveries: `POST /webhooks/{id}/disable` */
  disable(id: string, options?: CallOptions): ApiPromise<api.Webhook>;
  /** Enable a webhook: `POST /webhooks/{id}/enable` */
  enable(id: string, options?: CallOptions): ApiPromise<api.Webhook>;
  /** Rotate the signing secret of a webhook: `POST /webhooks/{id}/rotate-secret` */
  rotateSecret(id: string, body?: NonNullable<api.RotateWebhookSecretData['body']>, options?: CallOptions): ApiPromise<api.WebhookWithSecret>;
  /** Send a test event to a webhook: `POST /webhooks/{id}/test` */
  test(id: string, body?: NonNullable<api.TestWebhookData['body']>, options?: CallOptions): ApiPromise<api.DeliveryWithAttempts>;
  /** Replay events to a webhook: `POST /webhooks/{id}/replay` */
  replay(id: string, body: NonNullable<api.ReplayEventsData['body']>, options?: CallOptions): ApiPromise<api.ReplayedEvents>;
  /** List the deliveries of a webhook, newest first: `GET /webhooks/{id}/deliveries` */
  deliveries(id: string, query?: QueryOf<api.ListDeliveriesData>, options?: CallOptions): List<api.DeliveryPage['data'][number]>;
}

export interface DeliveriesOperations {
  /** Retrieve a delivery with its attempts: `GET /deliveries/{id}` */
  get(id: string, options?: CallOptions): ApiPromise<api.DeliveryWithAttempts>;
  /** Send a waiting delivery now: `POST /deliveries/{id}/send-now` */
  sendNow(id: string, options?: CallOptions): ApiPromise<api.Delivery>;
  /** Redeliver an event: `POST /deliveries/{id}/redeliver` */
  redeliver(id: string, options?: CallOptions): ApiPromise<api.Delivery>;
}

export interface EventsOperations {
  /** List events, newest first: `GET /events` */
  list(query?: QueryOf<api.ListEventsData>, options?: CallOptions): List<api.EventPage['data'][number]>;
  /** Retrieve an event: `GET /events/{id}` */
  get(id: string, options?: CallOptions): ApiPromise<api.Event>;
}

export interface NotificationsOperations {
  /** List notifications to the workspace owner, newest first: `GET /notifications` */
  list(query?: QueryOf<api.ListNotificationsData>, options?: CallOptions): List<api.NotificationPage['data'][number]>;
}

export interface ViewsOperations {
  /** List your views and shared views, oldest first: `GET /views` */
  list(query?: QueryOf<api.ListViewsData>, options?: CallOptions): List<api.ViewList['data'][number]>;
  /** Create or replace one of your views: `PUT /views/{name}` */
  set(name: string, body: NonNullable<api.SetViewData['body']>, options?: CallOptions): ApiPromise<api.View>;
  /** Delete a view: `DELETE /views/{name}` */
  delete(name: string, query?: QueryOf<api.DeleteViewData>, options?: CallOptions): ApiPromise<api.View>;
}

export interface StatisticsOperations {
  /** List runs, cost, latency and last score of each prompt, by name: `GET /statistics/prompts` */
  prompts(query?: QueryOf<api.ListPromptStatisticsData>, options?: CallOptions): List<api.PromptStatisticsPage['data'][number]>;
  /** Retrieve runs of a prompt by day and version, and its evaluation scores: `GET /statistics/prompts/{name}` */
  prompt(name: string, query?: QueryOf<api.GetPromptStatisticsData>, options?: CallOptions): ApiPromise<api.PromptSeries>;
}

export interface KeysOperations {
  /** List API keys, newest first: `GET /api-keys` */
  list(query?: QueryOf<api.ListApiKeysData>, options?: CallOptions): List<api.ApiKeyPage['data'][number]>;
  /** Create an API key; it is shown once: `POST /api-keys` */
  create(body: NonNullable<api.CreateApiKeyData['body']>, options?: CallOptions): ApiPromise<api.CreatedApiKey>;
  /** Retrieve the API key of the request: `GET /api-keys/current` */
  current(options?: CallOptions): ApiPromise<api.CurrentApiKey>;
  /** Revoke the API key of the request immediately: `DELETE /api-keys/current` */
  revokeCurrent(options?: CallOptions): ApiPromise<api.ApiKey>;
  /** Revoke an API key immediately: `DELETE /api-keys/{id}` */
  revoke(id: string, options?: CallOptions): ApiPromise<api.ApiKey>;
}

export interface SessionsOperations {
  /** Retrieve the session of the request: `GET /session` */
  current(options?: CallOptions): ApiPromise<api.OwnSession>;
  /** Create a session (sign in): `POST /session` */
  create(body: NonNullable<api.CreateSessionData['body']>, options?: CallOptions): ApiPromise<api.OwnSession>;
  /** End the session of the request (sign out): `DELETE /session` */
  endCurrent(options?: CallOptions): ApiPromise<api.EndedSession>;
  /** Switch the session to another workspace: `POST /session/workspace` */
  switchWorkspace(body: NonNullable<api.SwitchWorkspaceData['body']>, options?: CallOptions): ApiPromise<api.OwnSession>;
  /** List sessions, newest first: `GET /sessions` */
  list(query?: QueryOf<api.ListSessionsData>, options?: CallOptions): List<api.SessionPage['data'][number]>;
  /** End a session immediately: `DELETE /sessions/{id}` */
  end(id: string, options?: CallOptions): ApiPromise<api.Session>;
}

export interface MembersOperations {
  /** List members, newest first: `GET /members` */
  list(query?: QueryOf<api.ListMembersData>, options?: CallOptions): List<api.MemberPage['data'][number]>;
  /** Retrieve a member: `GET /members/{id}` */
  get(id: string, options?: CallOptions): ApiPromise<api.Member>;
  /** Change the role of a member, or suspend or reinstate a member: `PATCH /members/{id}` */
  update(id: string, body: NonNullable<api.UpdateMemberData['body']>, options?: CallOptions): ApiPromise<api.Member>;
  /** Remove a member immediately: `DELETE /members/{id}` */
  remove(id: string, options?: CallOptions): ApiPromise<api.Member>;
}

export interface MeOperations {
  /** Retrieve the caller and its permissions: `GET /me` */
  get(options?: CallOptions): ApiPromise<api.Me>;
  /** List your personal API keys, newest first: `GET /me/api-keys` */
  keys(query?: QueryOf<api.ListMyApiKeysData>, options?: CallOptions): List<api.ApiKeyPage['data'][number]>;
  /** Create a personal API key; it is shown once: `POST /me/api-keys` */
  createKey(body: NonNullable<api.CreateMyApiKeyData['body']>, options?: CallOptions): ApiPromise<api.CreatedApiKey>;
  /** Revoke a personal API key immediately: `DELETE /me/api-keys/{id}` */
  revokeKey(id: string, options?: CallOptions): ApiPromise<api.ApiKey>;
}

export interface DevicesOperations {
  /** Create a device authorization: `POST /device/authorizations` */
  authorize(body: NonNullable<api.CreateDeviceAuthorizationData['body']>, options?: CallOptions): ApiPromise<api.CreatedDeviceAuthorization>;
  /** Exchange an approved device code for a key, shown once: `POST /device/token` */
  key(body: NonNullable<api.CreateDeviceKeyData['body']>, options?: CallOptions): ApiPromise<api.DeviceKey>;
  /** Retrieve a device authorization: `GET /device/authorizations/{user_code}` */
  get(userCode: string, options?: CallOptions): ApiPromise<api.DeviceAuthorization>;
  /** Approve a device authorization: `POST /device/authorizations/{user_code}/approve` */
  approve(userCode: string, body?: NonNullable<api.ApproveDeviceAuthorizationData['body']>, options?: CallOptions): ApiPromise<api.DeviceAuthorization>;
  /** Deny a device authorization: `POST /device/authorizations/{user_code}/deny` */
  deny(userCode: string, options?: CallOptions): ApiPromise<api.DeviceAuthorization>;
}

export interface AuditLogOperations {
  /** List audit log entries, newest first: `GET /audit-log` */
  list(query?: QueryOf<api.ListAuditLogData>, options?: CallOptions): List<api.AuditLogPage['data'][number]>;
}

export interface TracesOperations {
  /** List traces, newest first: `GET /traces` */
  list(query?: QueryOf<api.ListTracesData>, options?: CallOptions): List<api.TracePage['data'][number]>;
  /** Store spans in the protocol of OpenTelemetry (OTLP/HTTP): `POST /traces` */
  ingest(body: NonNullable<api.IngestTracesData['body']>, options?: CallOptions): ApiPromise<api.ExportTraceServiceResponse>;
  /** Delete all traces of a user: `DELETE /traces` */
  deleteOfUser(query: QueryOf<api.DeleteTracesOfUserData>, options?: CallOptions): ApiPromise<api.DeletedTracesOfUser>;
  /** Count traces by status, name, service, environment, user, model, tool, agent and tag: `GET /traces/facets` */
  count(query?: QueryOf<api.CountTracesData>, options?: CallOptions): ApiPromise<api.TraceFacets>;
  /** Retrieve a trace: its tokens, cost and errors: `GET /traces/{id}` */
  get(id: string, options?: CallOptions): ApiPromise<api.Trace>;
  /** Delete a trace, with its steps and the executions recorded from them: `DELETE /traces/{id}` */
  delete(id: string, options?: CallOptions): ApiPromise<api.Trace>;
  /** List the steps of a trace as a tree, each before those below it: `GET /traces/{id}/steps` */
  steps(id: string, query?: QueryOf<api.ListTraceStepsData>, options?: CallOptions): List<api.TraceStepPage['data'][number]>;
  /** Retrieve a step of a trace, with its texts: `GET /traces/{id}/steps/{span_id}` */
  step(id: string, spanId: string, options?: CallOptions): ApiPromise<api.WholeTraceStep>;
  /** Retrieve the policy for storing traces and recorded runs: `GET /trace-policy` */
  policy(options?: CallOptions): ApiPromise<api.TracePolicy>;
  /** Set the policy for storing traces and recorded runs: `PUT /trace-policy` */
  setPolicy(body: NonNullable<api.SetTracePolicyData['body']>, options?: CallOptions): ApiPromise<api.TracePolicy>;
}

export interface ConversationsOperations {
  /** List conversations, the most recent first: `GET /conversations` */
  list(query?: QueryOf<api.ListConversationsData>, options?: CallOptions): List<api.ConversationPage['data'][number]>;
  /** Retrieve a conversation with its traces, oldest first: `GET /conversations/{name}` */
  traces(name: string, query?: QueryOf<api.GetConversationData>, options?: CallOptions): List<api.WholeConversation['data'][number]>;
  /** Delete all traces of a conversation: `DELETE /conversations/{name}` */
  delete(name: string, options?: CallOptions): ApiPromise<api.DeletedConversation>;
}

/** Every operation of the service, by what it is about. */
export interface Resources {
  readonly prompts: PromptsOperations;
  readonly labels: LabelsOperations;
  readonly releases: ReleasesOperations;
  readonly executions: ExecutionsOperations;
  readonly chatCompletions: ChatCompletionsOperations;
  readonly responses: ResponsesOperations;
  readonly models: ModelsOperations;
  readonly providers: ProvidersOperations;
  readonly evaluations: EvaluationsOperations;
  readonly evaluators: EvaluatorsOperations;
  readonly improvements: ImprovementsOperations;
  readonly datasets: DatasetsOperations;
  readonly savedEvaluators: SavedEvaluatorsOperations;
  readonly scores: ScoresOperations;
  readonly scoreDefinitions: ScoreDefinitionsOperations;
  readonly queues: QueuesOperations;
  readonly rules: RulesOperations;
  readonly schedules: SchedulesOperations;
  readonly monitors: MonitorsOperations;
  readonly webhooks: WebhooksOperations;
  readonly deliveries: DeliveriesOperations;
  readonly events: EventsOperations;
  readonly notifications: NotificationsOperations;
  readonly views: ViewsOperations;
  readonly statistics: StatisticsOperations;
  readonly keys: KeysOperations;
  readonly sessions: SessionsOperations;
  readonly members: MembersOperations;
  readonly me: MeOperations;
  readonly devices: DevicesOperations;
  readonly auditLog: AuditLogOperations;
  readonly traces: TracesOperations;
  readonly conversations: ConversationsOperations;
  /** Retrieve tokens, cost and latency by prompt, model and day: `GET /usage` */
  usage(query?: QueryOf<api.GetUsageData>, options?: CallOptions): ApiPromise<api.Usage>;
}
