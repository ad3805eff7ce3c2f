import { sql } from 'kysely';
import type { Query } from '../../db/database.ts';
import {
  type ComparableType,
  type ComparableValue,
  judgeAgreement,
  type Measure,
  reviewerAgreement,
} from '../../domain/scores/agreement.ts';
import { afterOthers } from '../../lib/event-loop.ts';
import { findQueue } from './queues.ts';

/** The maximum number of reviews to compare: the newest. */
const MAX_REVIEWS = 20_000;
/** The maximum number of scores of these reviews to compare: the newest. */
const MAX_SCORES = 100_000;
/** The maximum size of the texts that are read: an id, a reviewer, a name and a category each. */
export const QUEUE_AGREEMENT_BYTES = MAX_SCORES * 280;
/** The maximum number of reviewer pairs shown: those with the most items. */
const MAX_PAIRS = 20;

/** How much two reviewers agree. */
export interface PairAgreement {
  reviewers: [string, string];
  /** The number of items that both have scored. */
  items: number;
  measure: Measure;
}

/** How much the reviewers of a queue agree on a score. */
export interface ScoreAgreement {
  name: string;
  type: ComparableType;
  /** The number of items that at least two have scored. */
  items: number;
  /** 0–1: the share of these items on which all scores are exactly the same; null if there are none. */
  same: number | null;
  measure: Measure;
  pairs: PairAgreement[];
}

/** Values by reviewer. */
type Unit = Map<string, ComparableValue>;

/**
 * How much the reviewers of a queue agree, by score; text scores are excluded. Reads at most {@link QUEUE_AGREEMENT_BYTES}.
 * @throws ApiError `not_found`
 */
export async function queueAgreement(query: Query, name: string): Promise<ScoreAgreement[]> {
  const queue = await findQueue(query, name);
  const rows = await query((db) =>
    db
      .selectFrom((eb) =>
        eb
          .selectFrom('queue_reviews')
          .select(['item_id', 'reviewer', 'score_ids', 'ended_at'])
          .where('queue_id', '=', queue.id)
          .where('outcome', '=', 'completed')
          .orderBy('ended_at', 'desc')
          .limit(MAX_REVIEWS)
          .as('r'),
      )
      .innerJoin('scores as s', (join) => join.on(sql<boolean>`${sql.ref('s.id')} = any(${sql.ref('r.score_ids')})`))
      .select(['r.item_id', 'r.reviewer', 's.name', 's.data_type', 's.number', 's.text'])
      .where('s.data_type', '<>', 'text')
      .orderBy('r.ended_at', 'desc')
      .limit(MAX_SCORES),
  );
  const byScore = Map.groupBy(rows, (row) => JSON.stringify([row.name, row.data_type]));
  const found: ScoreAgreement[] = [];
  for (const [, scores] of [...byScore].sort(([a], [b]) => (a < b ? -1 : 1))) {
    const [first] = scores;
    if (first === undefined || first.data_type === 'text') continue;
    const units = new Map<string, Unit>();
    for (const { item_id: item, reviewer, number, text } of scores) {
      const unit = units.get(item) ?? new Map<string, ComparableValue>();
      unit.set(reviewer, number ?? text ?? '');
      units.set(item, unit);
    }
    found.push(agreementOf(first.name, first.data_type, [...units.values()]));
    await afterOthers(scores.length * 100);
  }
  return found;
}

function agreementOf(name: string, type: ComparableType, units: Unit[]): ScoreAgreement {
  const shared = units.filter((unit) => unit.size > 1);
  const values = shared.map((unit) => [...unit.values()]);
  const same = values.filter((unit) => new Set(unit).size === 1).length;
  return {
    name,
    type,
    items: shared.length,
    same: shared.length === 0 ? null : same / shared.length,
    measure: reviewerAgreement(type, values),
    pairs: pairsOf(type, shared),
  };
}

function pairsOf(type: ComparableType, units: readonly Unit[]): PairAgreement[] {
  const pairs = new Map<
    string,
    { reviewers: [string, string]; both: { judge: ComparableValue; people: ComparableValue }[] }
  >();
  for (const unit of units) {
    const said = [...unit].sort(([a], [b]) => (a < b ? -1 : 1));
    for (const [index, [one, judge]] of said.entries())
      for (const [other, people] of said.slice(index + 1)) {
        const key = `${one} ${other}`;
        const pair = pairs.get(key) ?? { reviewers: [one, other], both: [] };
        pair.both.push({ judge, people });
        pairs.set(key, pair);
      }
  }
  return [...pairs.values()]
    .sort((a, b) => b.both.length - a.both.length)
    .slice(0, MAX_PAIRS)
    .flatMap(({ reviewers, both }) => {
      const [measure] = judgeAgreement(type, both).measures;
      return measure === undefined ? [] : [{ reviewers, items: both.length, measure }];
    });
}
