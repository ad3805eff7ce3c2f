import { v5 } from 'uuid';
import { publicId } from '../../domain/ids.ts';
import { type Prompt, parsePrompt } from '../../domain/prompts/prompt.ts';
import { readableInput } from '../../domain/text/readable-messages.ts';
import { judgesOf, type PreparedJudging, prepareEvaluator } from '../../evaluators/registry.ts';
import type { BatchedCall } from '../../models/batches/batched-models.ts';
import type { LoadedBatch } from '../../services/batches/load-batch.ts';
import type { OpenExample } from '../../services/evaluations/run/open-examples.ts';
import { callHashOf } from '../../services/executions/creation/call-hash.ts';
import { weightOfRun } from '../scoring/weights.ts';

/** The calls in a batch, rebuilt from the examples whenever they are needed. */
export class BatchedCalls {
  readonly #batch: LoadedBatch;
  readonly #prompt: Prompt;
  readonly #judge: PreparedJudging | undefined;

  constructor(batch: LoadedBatch) {
    this.#batch = batch;
    this.#prompt = parsePrompt(batch.content, batch.includes);
    const config = judgesOf(batch.evaluators).find(({ name }) => name === batch.evaluator);
    const judge = config && prepareEvaluator(config);
    this.#judge = judge?.kind === 'judging' ? judge : undefined;
  }

  /** @throws TemplateVariablesError if the example's variables do not fill the prompt */
  callOf(example: OpenExample, signal: AbortSignal): BatchedCall {
    const { workspaceId, batchModel: model, parameters, content } = this.#batch;
    const input = this.#prompt.fill(example.variables);
    const call = { workspace: publicId('workspace', workspaceId), model, signal };
    if (this.#judge === undefined)
      return { ...call, input, tools: content.tools, toolChoice: content.tool_choice, parameters };
    const { output, toolCalls, modelMs, costUsd, expected, variables, metadata } = example;
    const judged = { output: output ?? '', toolCalls, modelMs, costUsd, expected, variables };
    return {
      ...call,
      ...this.#judge.request({ ...judged, input: readableInput(input), ...(metadata !== null && { metadata }) }),
    };
  }

  /** The most memory that its call takes, in bytes. */
  weightOf(example: OpenExample): number {
    return weightOfRun(example, (bytes) => this.#prompt.maxChars(bytes), this.#judge === undefined ? 0 : 1);
  }

  /** The hash of a call for a response. */
  hashOf({ input }: BatchedCall): Buffer {
    const { parameters, content } = this.#batch;
    return callHashOf({ input, parameters, tools: content.tools, toolChoice: content.tool_choice });
  }

  /** Stays the same however often the result of the call is stored. */
  outcomeOf(seq: number): string {
    return v5(String(seq), this.#batch.id);
  }
}
