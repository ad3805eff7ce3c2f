import { createHash } from 'node:crypto';
import { expect } from '@jest/globals';
import type { BatchBehaviour } from '../../support/providers/batches.ts';
import { waitFor } from '../../support/wait-for.ts';
import { type EvaluationStage, startStage } from '../evaluations/evaluations-support.ts';

/** How a run deals with its batches. */
export interface BatchSettings {
  /** In seconds; less than the API allows. */
  maxWait?: number;
  leftovers?: 'interactive' | 'fail';
}

export interface BatchRow {
  id: string;
  number: number;
  wave: string;
  evaluator: string | null;
  status: string;
  items: number;
  submissions: number;
  provider_batch_id: string | null;
  provider_status: string | null;
  files: string[];
  error: { code: string; message: string } | null;
}

export interface BatchStage extends EvaluationStage {
  /** Starts a run that calls its models in batches. @returns its id */
  beginBatch(body: object, settings?: BatchSettings): Promise<string>;
  /** The same, waiting for its end. */
  runBatch(body: object, settings?: BatchSettings): Promise<Awaited<ReturnType<EvaluationStage['read']>>>;
  rows(id: string): Promise<BatchRow[]>;
  /** The run's batches, once they are all like this. */
  untilBatches(id: string, what: string, isSo: (row: BatchRow) => boolean): Promise<BatchRow[]>;
  /** Sets how the stand-in's batches behave. */
  behave(behaviour?: BatchBehaviour): void;
  /** Expects nothing left at the stand-in: no file, no unknown batch, no unfinished one. */
  expectNothingLeft(known?: number): Promise<void>;
}

/** The usage of prompts with this word: 2,000 times the expected output. */
const DEAR = { input: 1_000, output: 1_000_000 };

/** The rubric of the judge, which identifies its calls. */
export const RUBRIC = 'Grade by the digest.';

export const idOf = (id: string) => id.slice(id.indexOf('_') + 1);

/** @param environment settings over the stage's own */
export async function startBatchStage(environment: Record<string, string> = {}): Promise<BatchStage> {
  const answer = ({ prompt }: { prompt: string }) => {
    if (prompt.includes(RUBRIC)) return JSON.stringify({ reason: 'as told', score: gradeOf(prompt) });
    const text = `Answer to: ${prompt}`;
    return prompt.includes('dear') ? { text, usage: DEAR } : text;
  };
  const stage = await startStage({ answer }, environment);
  const { query } = stage.service.dependencies.db.system;
  const rows = (id: string) =>
    query<BatchRow>(
      {
        text: `select id, number, wave, evaluator, status, items, submissions, provider_batch_id, provider_status, files, error
             from provider_batches where evaluation_id = $1 order by number`,
      },
      [idOf(id)],
    );

  async function beginBatch(body: object, { maxWait, leftovers = 'interactive' }: BatchSettings = {}) {
    const batch = { max_wait: '24h', then: leftovers };
    if (maxWait === undefined) return stage.begin({ ...body, mode: 'batch', batch });
    const id = await stage.begin({
      ...body,
      mode: 'batch',
      batch,
      start_at: new Date(Date.now() + 3_600_000).toISOString(),
    });
    await stage.control(id, 'pause');
    await query(
      {
        text: `update evaluations set batch = batch || jsonb_build_object('max_wait', $1::int), start_at = null where id = $2`,
      },
      [maxWait, idOf(id)],
    );
    expect((await stage.control(id, 'resume')).status).toBe(200);
    return id;
  }

  /** Batches that the service had rows for: deleting a run deletes them. */
  const known = new Set<string>();

  return {
    ...stage,
    beginBatch,
    runBatch: async (body, settings) =>
      stage.until(await beginBatch(body, settings), 'completed', 'failed', 'canceled'),
    rows,
    untilBatches: (id, what, isSo) =>
      waitFor(`the batches of ${id}: ${what}`, async () => {
        const found = await rows(id);
        return found.length > 0 && found.every(isSo) ? found : undefined;
      }),
    behave: (behaviour) => stage.openai.batches.behave(behaviour),
    async expectNothingLeft(expected) {
      const { batches } = stage.openai;
      await waitFor('no file to be left at the provider', async () => batches.inspect().files.length === 0);
      const seen = batches.inspect().batches.filter(({ status }) => status !== 'rejected');
      // By our ids: the stand-in of another file can use the same ids.
      const rows = await query<{ id: string }>(
        { text: `select provider_batch_id as id from provider_batches where 'batch_' || id = any($1)` },
        [seen.map(({ tag }) => tag)],
      );
      for (const { id } of rows) known.add(id);
      expect(seen.map(({ id }) => id).filter((id) => !known.has(id))).toEqual([]);
      expect(seen.filter(({ status }) => !['completed', 'expired', 'canceled'].includes(status))).toEqual([]);
      const tags = seen.map(({ tag }) => tag);
      expect(new Set(tags).size).toBe(tags.length);
      if (expected !== undefined) expect(batches.inspect().created).toBe(expected);
    },
  };
}

/** The parts of results that are the same whichever way the model is called. */
export const essence = (results: { seq: number; status: string; output: string; score: number; scores: unknown }[]) =>
  results.map(({ seq, status, output, score, scores }) => ({ seq, status, output, score, scores }));

/** A grade that depends on nothing but the prompt. */
export const gradeOf = (prompt: string): number => 1 + ((createHash('sha256').update(prompt).digest()[0] ?? 0) % 5);
