import { Readable } from 'node:stream';
import { stringify } from 'csv-stringify';
import type { ResultRow } from '../../services/evaluations/results.ts';

const FIXED = [
  'example_id',
  'status',
  'score',
  'baseline_score',
  'regression',
  'improvement',
  'output',
  'expected',
  'variables',
  'error',
  'tokens_input',
  'tokens_output',
  'cost_usd',
  'model_ms',
];

/** A cell that a spreadsheet would take for a formula gets a quote in front. */
function text(value: string): string {
  return /^[=+\-@\t\r\n]/.test(value) ? `'${value}` : value;
}

function json(value: unknown): string {
  if (value === null || value === undefined) return '';
  return text(typeof value === 'string' ? value : JSON.stringify(value));
}

/** Results as CSV, one column an evaluator; rows are read as they are sent. */
export function resultsAsCsv(results: AsyncIterable<ResultRow>, evaluators: string[]): Readable {
  const columns = [...FIXED, ...evaluators.flatMap((name) => [`score.${name}`, `reason.${name}`])];
  async function* rows() {
    for await (const row of results)
      yield [
        text(row.example_key),
        row.status,
        row.score,
        row.baseline_score,
        row.regression === null ? '' : String(row.regression),
        row.improvement === null ? '' : String(row.improvement),
        text(row.output ?? ''),
        json(row.expected),
        json(row.variables),
        text(row.error === null ? '' : `${row.error.code}: ${row.error.message}`),
        row.tokens_input,
        row.tokens_output,
        row.cost_amount,
        row.model_ms,
        ...evaluators.flatMap((name) => [row.scores?.[name]?.score ?? '', text(row.scores?.[name]?.reason ?? '')]),
      ];
  }
  const source = Readable.from(rows());
  const csv = stringify({ header: true, columns });
  source.on('error', (error) => csv.destroy(error));
  csv.on('close', () => source.destroy());
  return source.pipe(csv);
}
