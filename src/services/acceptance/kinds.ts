import { tellEvaluationWorkflow } from '../evaluations/evaluation-workflow.ts';
import { withdrawEvaluation } from '../evaluations/withdraw-evaluation.ts';
import { cancelExecutionWorkflow } from '../executions/execution-workflow.ts';
import { withdrawExecution } from '../executions/withdraw-execution.ts';
import type { Withdrawable } from './withdrawal.ts';

export const EXECUTION: Withdrawable = {
  field: 'execution_id',
  withdraw: withdrawExecution,
  stop: cancelExecutionWorkflow,
};

export const EVALUATION: Withdrawable = {
  field: 'evaluation_id',
  withdraw: withdrawEvaluation,
  stop: (client, id) => tellEvaluationWorkflow({ client }, { id, retries: 0 }),
};
