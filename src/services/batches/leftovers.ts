import type { Query } from '../../db/database.ts';
import { prepared } from '../../db/statement.ts';
import { untilDatabaseAnswers } from '../../db/until-database-answers.ts';
import { newId } from '../../domain/ids.ts';
import { storeResults, storeScores } from '../evaluations/run/results-store.ts';
import type { BatchError } from './change-batch.ts';

/** A range of a run's examples that were to be called in batches. */
export interface BatchedRange {
  evaluationId: string;
  examplesId: string | null;
  round: number;
  /** The evaluator whose judgements these are; null: the responses of the run's model. */
  evaluator: string | null;
  /** Inclusive. */
  from: number;
  /** Exclusive. */
  to: number;
}

const PAGE = 1_000;

const WITHOUT_RESPONSE = prepared<Omit<BatchedRange, 'evaluator'>>()(
  (db, { evaluationId, examplesId, round, from, to }) =>
    db
      .selectFrom('dataset_examples as e')
      .leftJoin('evaluation_results as r', (join) =>
        join.onRef('r.seq', '=', 'e.seq').on('r.evaluation_id', '=', evaluationId),
      )
      .select('e.seq')
      .where('e.dataset_version_id', '=', examplesId)
      .where('e.seq', '>=', from)
      .where('e.seq', '<', to)
      .where('r.output', 'is', null)
      .where((eb) =>
        eb.or([eb('r.seq', 'is', null), eb.and([eb('r.status', '=', 'failed'), eb('r.round', '<', round)])]),
      )
      .orderBy('e.seq')
      .limit(PAGE),
);

const WITHOUT_JUDGEMENT = prepared<Omit<BatchedRange, 'evaluator' | 'examplesId'> & { evaluator: string }>()(
  (db, { evaluationId, evaluator, round, from, to }) =>
    db
      .selectFrom('evaluation_results as r')
      .leftJoin('evaluation_judgements as j', (join) =>
        join
          .onRef('j.evaluation_id', '=', 'r.evaluation_id')
          .onRef('j.seq', '=', 'r.seq')
          .on('j.evaluator', '=', evaluator),
      )
      .select('r.seq')
      .where('r.evaluation_id', '=', evaluationId)
      .where('r.seq', '>=', from)
      .where('r.seq', '<', to)
      .where('r.output', 'is not', null)
      .where((eb) =>
        eb.or([eb('r.status', '=', 'answered'), eb.and([eb('r.status', '=', 'failed'), eb('r.round', '<', round)])]),
      )
      .where('j.answer', 'is', null)
      .orderBy('r.seq')
      .limit(PAGE),
);

/** The examples of the range that a judge has responded to. */
export async function judgedSeqs(
  query: Query,
  { evaluationId, from, to }: Pick<BatchedRange, 'evaluationId' | 'from' | 'to'>,
  evaluator: string,
): Promise<Set<number>> {
  const rows = await query((db) =>
    db
      .selectFrom('evaluation_judgements')
      .select('seq')
      .where('evaluation_id', '=', evaluationId)
      .where('seq', '>=', from)
      .where('seq', '<', to)
      .where('evaluator', '=', evaluator)
      .where('answer', 'is not', null),
  );
  return new Set(rows.map(({ seq }) => seq));
}

/** Stores examples without a batch response as failed, because they are not called one by one. */
export async function failLeftovers(
  query: Query,
  { evaluator, ...range }: BatchedRange,
  error: BatchError,
  giveUp: AbortSignal,
): Promise<void> {
  const { evaluationId, round, to } = range;
  for (let from = range.from; ; ) {
    const rows = await untilDatabaseAnswers(
      () =>
        evaluator === null
          ? query(WITHOUT_RESPONSE, { ...range, from })
          : query(WITHOUT_JUDGEMENT, { evaluationId, evaluator, round, from, to }),
      giveUp,
    );
    const last = rows.at(-1);
    if (last === undefined) return;
    const failed = { status: 'failed', error } as const;
    await untilDatabaseAnswers(async () => {
      if (evaluator !== null) {
        await storeScores(
          query,
          evaluationId,
          round,
          rows.map(({ seq }) => ({ seq, result: failed })),
        );
      } else {
        await storeResults(
          query,
          evaluationId,
          range,
          rows.map(({ seq }) => ({ seq, result: failed, outcomeId: newId() })),
        );
      }
    }, giveUp);
    from = last.seq + 1;
  }
}
