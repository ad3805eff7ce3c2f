import { evaluationWorkflowId } from '../../temporal/names.ts';
import { tellChanged } from '../../temporal/workflows.ts';
import { withdrawEvaluation } from '../evaluations/creation/withdraw-evaluation.ts';
import { withdrawExecution } from '../executions/creation/withdraw-execution.ts';
import { cancelExecutionWorkflow } from '../executions/execution-workflow.ts';
import type { Withdrawable } from './withdrawal.ts';

export const EXECUTION: Withdrawable = {
  field: 'execution_id',
  withdraw: withdrawExecution,
  stop: cancelExecutionWorkflow,
};

export const EVALUATION: Withdrawable = {
  field: 'evaluation_id',
  withdraw: withdrawEvaluation,
  stop: (client, id) => tellChanged({ client }, evaluationWorkflowId(id, 0)),
};
