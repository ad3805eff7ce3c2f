import { randomUUID } from 'node:crypto';
import { open, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Query } from '../../db/database.ts';
import { untilDatabaseAnswers } from '../../db/until-database-answers.ts';
import { publicId } from '../../domain/ids.ts';
import { TemplateVariablesError } from '../../domain/prompts/prompt.ts';
import { callsPerExample, modelEvaluatorsOf } from '../../evaluators/registry.ts';
import type { BatchFile, BatchLine } from '../../models/batches/batched-models.ts';
import type { Models } from '../../models/model.ts';
import { ModelError } from '../../models/model-error.ts';
import type { Submission } from '../../services/batches/change-batch.ts';
import { judgedSeqs } from '../../services/batches/leftovers.ts';
import { type LoadedBatch, refOf } from '../../services/batches/load-batch.ts';
import {
  CHARACTERS_PER_TOKEN,
  expectedOutputTokens,
  hasFiles,
  judgeTokens,
} from '../../services/evaluations/creation/expected-tokens.ts';
import { copyOutputs } from '../../services/evaluations/run/copy-outputs.ts';
import { loadOpenExamples, type OpenExample } from '../../services/evaluations/run/open-examples.ts';
import { fallsBackOn } from '../../services/executions/run/fall-back.ts';
import type { Slots } from '../../temporal/slots.ts';
import { ExampleStore } from '../evaluation-run/example-store.ts';
import { COST_TO_GUESS } from '../scoring/batch-budget.ts';
import { BatchMemory } from '../scoring/batch-memory.ts';
import { callUsd } from '../scoring/expected-cost.ts';
import type { BatchMoney, CallPrice } from './batch-money.ts';
import { BatchedCalls } from './batched-calls.ts';

export interface BuildDeps {
  query: Query;
  models: Models;
  slots: Pick<Slots, 'examples'>;
}

/** Why the file ends: the end of the range, the provider's limits, or no money for another call. */
export type BuiltFile = BatchFile & Submission & { endsAt: 'range' | 'limits' | 'budget' };

/** A call in the file. */
type Line = BatchLine & { isWithFiles: boolean };

const PAGE_SIZE = 200;
/** Number of outputs of another run copied at a time. */
const COPIED = 2_500;
/** Lines are buffered up to this size before they are written. */
const WRITE_BYTES = 256 * 1024;

/** The cost of a batched call and of the judges' calls about its response; 0 without a known price. */
function pricedBy(models: Models, { wave, evaluator, batchModel, evaluators, parameters }: LoadedBatch) {
  const judges = modelEvaluatorsOf(evaluators);
  const usdOf = (model: string, input: number, output: number) =>
    callUsd(models.batches.problemOf(model) === undefined ? models.batches : models, model, input, output);
  const judge = judges.find(({ name }) => name === evaluator);
  const isJudged = wave === 'judgements';
  const output = isJudged ? (judge ? judgeTokens(judge, 0, 0).output : 0) : expectedOutputTokens(parameters);
  return ({ text, maxOutputTokens, isWithFiles }: Line, bytes: number): CallPrice => {
    const input = text.length / CHARACTERS_PER_TOKEN;
    const judgesUsd = (isJudged ? [] : judges).reduce((sum, config) => {
      const tokens = judgeTokens(config, input, output);
      // Texts are embedded and outputs are compared one at a time.
      if (config.type !== 'llm_judge')
        return sum + callsPerExample(config) * callUsd(models, config.model, tokens.input, tokens.output);
      return sum + usdOf(config.model, tokens.input, tokens.output);
    }, 0);
    const expectedUsd = judgesUsd + usdOf(batchModel, input, output);
    return {
      certainUsd: judgesUsd + usdOf(batchModel, input, 0),
      expectedUsd,
      mostUsd:
        maxOutputTokens === undefined || isWithFiles
          ? COST_TO_GUESS * expectedUsd
          : // A token has at least one byte.
            judgesUsd + usdOf(batchModel, bytes, maxOutputTokens),
    };
  };
}

/** Removes files of a process on this machine that crashed while working on the batch. */
async function removeLeftBehind(prefix: string): Promise<void> {
  for (const name of await readdir(tmpdir()))
    if (name.startsWith(prefix)) await rm(path.join(tmpdir(), name), { force: true });
}

/**
 * Writes the calls of a batch to a temporary file, page by page. Stores reusable responses instead, and stores examples that cannot
 * be called as failed.
 * @param money for its calls
 * @returns the file, which the caller removes
 */
export async function buildFile(
  { query, models, slots }: BuildDeps,
  batch: LoadedBatch,
  money: BatchMoney,
  signal: AbortSignal,
): Promise<BuiltFile> {
  const ref = refOf(batch);
  const limits = models.batches.limitsOf(ref.provider);
  const priceOf = pricedBy(models, batch);
  const calls = new BatchedCalls(batch);
  const store = new ExampleStore(query, batch.evaluationId, batch, signal);
  const memory = new BatchMemory(slots.examples, publicId('workspace', batch.workspaceId));
  const prefix = `pms-${ref.tag}-`;
  await removeLeftBehind(prefix);
  const file = path.join(tmpdir(), `${prefix}${randomUUID()}.jsonl`);
  const built: BuiltFile = { path: file, bytes: 0, items: 0, seqTo: batch.from, reservedUsd: 0, endsAt: 'range' };
  const handle = await open(file, 'wx', 0o600);
  let chunk: string[] = [];
  let chunkBytes = 0;

  async function flush(): Promise<void> {
    if (chunkBytes > 0) await handle.write(chunk.join(''));
    chunk = [];
    chunkBytes = 0;
  }

  /** The line of a call; undefined if no call is needed. */
  async function lineOf(example: OpenExample): Promise<Line | undefined> {
    const { seq } = example;
    const fail = async (error: { code: string; message: string }) => {
      // A judge's call fails the same way on its own and reports it there.
      if (batch.wave === 'responses') await store.storeResult(seq, { status: 'failed', error }, calls.outcomeOf(seq));
      return undefined;
    };
    try {
      const call = calls.callOf(example, signal);
      if (batch.wave === 'responses' && batch.reuseMaxAge !== null) {
        const { workspaceId, model, reuseMaxAge } = batch;
        const wanted = { workspaceId, model, callHash: calls.hashOf(call), maxAgeMs: reuseMaxAge * 1000 };
        const found = await store.findResponse(wanted);
        if (found !== undefined && (await store.storeResult(seq, found, calls.outcomeOf(seq)))) return undefined;
      }
      const line = await models.batches.toLine(call, models.batches.customIdOf(ref, seq));
      return { ...line, isWithFiles: hasFiles(call.input) };
    } catch (error) {
      if (error instanceof TemplateVariablesError) return fail({ code: 'invalid_example', message: error.message });
      if (!(error instanceof ModelError)) throw error;
      const { code, message } = error;
      // Anything that may succeed later or with another model is called later.
      const isLeft = error.retryable || (batch.fallbackModels.length > 0 && fallsBackOn(code));
      return isLeft ? undefined : fail({ code, message });
    }
  }

  /** @returns whether there is room for more */
  async function add(line: Line): Promise<boolean> {
    const bytes = Buffer.byteLength(line.text);
    // Too large for any batch: called individually.
    if (bytes > limits.bytes) return true;
    if (built.items >= limits.items || built.bytes + bytes > limits.bytes) built.endsAt = 'limits';
    else if (!money.add(priceOf(line, bytes))) built.endsAt = 'budget';
    else {
      built.items += 1;
      built.bytes += bytes;
      chunk.push(line.text);
      chunkBytes += bytes;
      if (chunkBytes >= WRITE_BYTES) await flush();
      return true;
    }
    return false;
  }

  /** Selects the examples that need a call. */
  async function toCall(examples: OpenExample[]): Promise<OpenExample[]> {
    const [first, last] = [examples[0], examples.at(-1)];
    if (batch.evaluator === null) return examples.filter(({ output }) => output === null);
    if (first === undefined || last === undefined) return [];
    const range = { evaluationId: batch.evaluationId, from: first.seq, to: last.seq + 1 };
    const judged = await untilDatabaseAnswers(() => judgedSeqs(query, range, batch.evaluator ?? ''), signal);
    return examples.filter(({ seq, output }) => output !== null && !judged.has(seq));
  }

  async function copy(from: number): Promise<void> {
    const { sourceEvaluationId, evaluationId, round } = batch;
    if (sourceEvaluationId === null) return;
    const to = Math.min(batch.to, from + COPIED);
    await untilDatabaseAnswers(() => copyOutputs(query, { evaluationId, sourceEvaluationId, round, from, to }), signal);
  }

  async function addPages(): Promise<void> {
    const step = batch.sourceEvaluationId === null ? batch.to - batch.from : COPIED;
    for (let start = batch.from; start < batch.to; start += step) {
      await copy(start);
      const to = Math.min(batch.to, start + step);
      for (let from = start; ; ) {
        signal.throwIfAborted();
        const page = await memory.load(signal, () =>
          untilDatabaseAnswers(() => loadOpenExamples(query, batch.evaluationId, batch, from, to, PAGE_SIZE), signal),
        );
        try {
          for (const example of await toCall(page)) {
            const line = await lineOf(example);
            if (line !== undefined && !(await add(line))) {
              built.seqTo = example.seq;
              return;
            }
          }
        } finally {
          for (const example of page) memory.free(example);
        }
        const last = page.at(-1);
        if (last === undefined) break;
        from = last.seq + 1;
      }
    }
    built.seqTo = batch.to;
  }

  try {
    await addPages();
    await flush();
    // A resubmitted batch already has its money.
    return { ...built, reservedUsd: batch.submissions > 0 ? batch.reservedUsd : money.reservedUsd };
  } catch (error) {
    await rm(file, { force: true });
    throw error;
  } finally {
    memory.close();
    await handle.close();
  }
}
