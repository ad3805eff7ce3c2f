import { Readable } from 'node:stream';
import { stringify } from 'csv-stringify/sync';
import { toCsvText } from '../../domain/text/csv-text.ts';
import type { ScoreRow } from '../../services/scores/store-scores.ts';
import { presentScore } from './presenter.ts';

const HEAD = [
  'id',
  'name',
  'data_type',
  'value',
  'execution_id',
  'evaluation_id',
  'example_id',
  'source',
  'author',
  'rule',
  'evaluator_version',
  'evaluator_model',
  'comment',
  'metadata',
  'created_at',
  'updated_at',
  'trace_id',
  'span_id',
  'conversation_id',
];

function cells(row: ScoreRow): unknown[] {
  const score = presentScore(row);
  const subject: Partial<Record<string, string>> = score.subject;
  return [
    score.id,
    score.name,
    score.data_type,
    typeof score.value === 'string' ? toCsvText(score.value) : String(score.value),
    subject['execution_id'],
    subject['evaluation_id'],
    toCsvText(subject['example_id'] ?? ''),
    score.source,
    score.author ?? '',
    toCsvText(row.rule ?? ''),
    toCsvText(row.evaluator_version ?? ''),
    toCsvText(row.evaluator_model ?? ''),
    toCsvText(score.comment ?? ''),
    toCsvText(JSON.stringify(score.metadata)),
    score.created_at,
    score.updated_at,
    subject['trace_id'],
    subject['span_id'],
    toCsvText(subject['conversation_id'] ?? ''),
  ];
}

/** Scores as CSV. The next page is read while the previous one is being sent. */
export function scoresAsCsv(pages: AsyncIterable<ScoreRow[]>): Readable {
  async function* texts() {
    yield stringify([HEAD]);
    for await (const rows of pages) yield stringify(rows.map(cells));
  }
  return Readable.from(texts(), { objectMode: false });
}
