import { invalidField } from '../../domain/errors.ts';
import type { JsonValue } from '../../domain/text/json.ts';
import { WAITING } from './run-tools.ts';
import { ADDS, asText, CALLS_MODELS, type JsonObject, READS, SETS, type ToolSpec } from './tool.ts';

/** A short schema: the full schemas of all evaluators would fill a context. */
export const EVALUATORS: JsonObject = {
  type: 'array',
  items: {
    type: 'object',
    properties: { type: { type: 'string' }, name: { type: 'string' }, weight: { type: 'number' } },
    required: ['type'],
  },
  description:
    'The evaluators that score each output, for instance [{"type": "exact_match"}]. list_evaluators gives all types with their options.',
};
const KINDS: Record<string, JsonObject> = {
  regressed: { regression: true },
  failed: { failed: true },
  low_score: { max_score: 0.5 },
};

/** @throws ApiError `invalid_request` */
function filterOf(kind: JsonValue): JsonObject {
  const found = typeof kind === 'string' && Object.hasOwn(KINDS, kind) ? KINDS[kind] : undefined;
  if (found === undefined) throw invalidField('kind', `must be one of ${Object.keys(KINDS).join(', ')}`);
  return found;
}

export const EVALUATION_TOOLS: readonly ToolSpec[] = [
  {
    name: 'list_datasets',
    operation: 'listDatasets',
    title: 'List datasets',
    description: 'Lists the datasets: named, versioned lists of examples that evaluations run over.',
    hints: READS,
  },
  {
    name: 'list_dataset_examples',
    operation: 'listDatasetExamples',
    title: 'Read the examples of a dataset',
    description:
      'Lists examples of a dataset with their variables and what is expected. Use it to learn what a prompt must handle.',
    hints: READS,
  },
  {
    name: 'create_dataset_from_executions',
    operation: 'createDatasetFromExecutions',
    title: 'Make examples out of executions',
    description:
      'Adds runs as examples to a dataset, in a new version of it: for instance those that users did not like.',
    hints: ADDS,
  },
  {
    name: 'create_dataset_from_scores',
    operation: 'createDatasetFromScores',
    title: 'Make examples for a judge out of scores by people',
    description:
      'Adds outputs that people scored to a dataset, with the value that they agree on as expected. Use it to evaluate or improve a prompt that judges outputs.',
    hints: ADDS,
  },
  {
    name: 'generate_dataset_examples',
    operation: 'generateDatasetExamples',
    title: 'Generate examples for a dataset',
    description:
      'Has a model write inputs for a prompt, without those that the dataset has. Nothing is stored: add the good ones with add_dataset_examples, with their metadata.',
    hints: CALLS_MODELS,
  },
  {
    name: 'add_dataset_examples',
    operation: 'addDatasetExamples',
    title: 'Add examples to a dataset',
    description:
      'Adds examples that you write to a dataset, in a new version of it. One whose id exists replaces that example. Use it to keep a case that a prompt must handle.',
    hints: ADDS,
  },
  {
    name: 'list_evaluators',
    operation: 'listEvaluators',
    title: 'List evaluators',
    description: 'Lists the types of evaluators with the JSON Schemas of their options. Use it before run_evaluation.',
    hints: READS,
  },
  {
    name: 'try_evaluators',
    operation: 'tryEvaluators',
    title: 'Try evaluators on one output',
    description:
      'Scores one output that you give, by evaluators of evaluations, and stores no score. Use it to find out whether an evaluator judges as you mean it, before run_evaluation. A judge calls its model, which costs money.',
    hints: CALLS_MODELS,
    brief: {
      evaluators: EVALUATORS,
      input: {
        type: ['string', 'array'],
        description: 'The input of the model, a text or messages: judges are shown it.',
      },
    },
    ...WAITING,
  },
  {
    name: 'estimate_evaluation',
    operation: 'estimateEvaluation',
    title: 'Estimate an evaluation',
    description: 'Says what an evaluation would cost and how long it would take, without running it.',
    hints: READS,
    brief: { evaluators: EVALUATORS },
  },
  {
    name: 'run_evaluation',
    operation: 'createEvaluation',
    title: 'Start an evaluation',
    description:
      'Runs a version of a prompt over a dataset (or over examples that you give) and scores each output. This calls models and costs money: set max_cost. It returns the id immediately and continues for minutes. Use it to check a new version before a release, or a draft before it becomes a version. With executions, it says what the version would have said to real calls, compared with what they said.',
    hints: CALLS_MODELS,
    omit: ['start_at'],
    brief: { evaluators: EVALUATORS },
    next: ({ id }) =>
      `It has started. Look with get_evaluation and id ${asText(id ?? '')} until the status is completed, failed or canceled; then use list_failures and compare_evaluations.`,
  },
  {
    name: 'list_evaluations',
    operation: 'listEvaluations',
    title: 'List evaluations',
    description: 'Lists evaluations, newest first, with their scores: of a prompt, a dataset, a status.',
    hints: READS,
  },
  {
    name: 'get_evaluation',
    operation: 'getEvaluation',
    title: 'Read an evaluation',
    description:
      'Reads an evaluation: status, progress, score, whether it passed, how many examples failed and why, regressions, cost.',
    hints: READS,
  },
  {
    name: 'list_failures',
    operation: 'listEvaluationResults',
    title: 'List failures of an evaluation',
    description:
      'Lists the results of an evaluation that need a look, with variables, expected and actual output, scores and reasons: with sort "score" the worst first, with q those that have a text. Use it to find out what to change in a prompt.',
    hints: READS,
    omit: ['regression', 'improvement', 'failed', 'format', 'min_score'],
    own: {
      kind: {
        type: 'string',
        enum: Object.keys(KINDS),
        default: 'low_score',
        description:
          'regressed: worse than in the baseline. failed: without a response of the model or a judge. low_score: scored max_score or less (default 0.5).',
      },
    },
    translate: ({ kind = 'low_score', ...given }) => ({ ...filterOf(kind), ...given }),
  },
  {
    name: 'list_evaluation_results',
    operation: 'listEvaluationResults',
    title: 'List results of an evaluation',
    description:
      'Lists the results of an evaluation by score, regression, improvement, text (q) or metadata, in the order of the examples or sorted: "score" has the worst first. For failures only, use list_failures.',
    hints: READS,
    omit: ['format'],
  },
  {
    name: 'summarize_evaluation_results',
    operation: 'summarizeEvaluationResults',
    title: 'Sum up results of an evaluation',
    description:
      'Sums up the results that the filters of list_evaluation_results let through: how many passed and failed, the mean and spread of scores, cost, latency. Use it to learn how one kind of example does, before you read results.',
    hints: READS,
  },
  {
    name: 'get_evaluation_result',
    operation: 'getEvaluationResult',
    title: 'Read a result of an evaluation',
    description: 'Reads one result of an evaluation in full.',
    hints: READS,
  },
  {
    name: 'compare_evaluations',
    operation: 'compareEvaluations',
    title: 'Compare two evaluations',
    description:
      'Compares two evaluations of the same examples: differences of the scores with their confidence, what got better and what got worse. Use it to decide whether a new version is better.',
    hints: READS,
  },
  {
    name: 'cancel_evaluation',
    operation: 'cancelEvaluation',
    title: 'Cancel an evaluation',
    description: 'Cancels a running evaluation. Its results so far are kept.',
    hints: { ...SETS, idempotent: false },
  },
];
