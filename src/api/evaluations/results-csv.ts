import { Readable } from 'node:stream';
import { stringify } from 'csv-stringify/sync';
import type { ScoreValue } from '../../domain/scores/score.ts';
import { toCsvText } from '../../domain/text/csv-text.ts';
import type { ResultRow } from '../../services/evaluations/results/results.ts';

const FIXED = [
  'example_id',
  'status',
  'score',
  'baseline_score',
  'regression',
  'improvement',
  'output',
  'tool_calls',
  'model',
  'expected',
  'variables',
  'error',
  'tokens_input',
  'tokens_output',
  'cost_usd',
  'model_ms',
];

/** JSON of this length or more is passed through as stored. */
const LONG = 64 * 1024;

/** A string as is, any other value as compact JSON. */
function json(stored: string | null): string {
  if (stored === null) return '';
  if (!stored.startsWith('"') && stored.length > LONG) return toCsvText(stored);
  const value: unknown = JSON.parse(stored);
  return toCsvText(typeof value === 'string' ? value : JSON.stringify(value));
}

function cells(row: ResultRow, evaluators: string[]): unknown[] {
  return [
    toCsvText(row.example_key),
    row.status,
    row.score,
    row.baseline_score,
    row.regression === null ? '' : String(row.regression),
    row.improvement === null ? '' : String(row.improvement),
    toCsvText(row.output ?? ''),
    json(row.tool_calls),
    toCsvText(row.model ?? ''),
    json(row.expected),
    json(row.variables),
    toCsvText(row.error === null ? '' : `${row.error.code}: ${row.error.message}`),
    ...(row.tokens_unknown > 0 ? ['', ''] : [row.tokens_input, row.tokens_output]),
    row.cost_amount,
    row.model_ms,
    ...evaluators.flatMap((name) => [row.scores?.[name]?.score ?? '', toCsvText(row.scores?.[name]?.reason ?? '')]),
  ];
}

/** Scores stored for the examples of a run, in addition to those of its evaluators. */
export interface StoredScores {
  names: readonly string[];
  /** By example and name. */
  valuesOf(exampleIds: readonly string[]): Promise<ReadonlyMap<string, ReadonlyMap<string, ScoreValue>>>;
}

function storedCell(value: ScoreValue | undefined): string {
  if (value === undefined) return '';
  return typeof value === 'string' ? toCsvText(value) : String(value);
}

const NO_SCORES: StoredScores = { names: [], valuesOf: async () => new Map() };

/**
 * Results as CSV with columns for each evaluator and one for each name of a stored score. The next page is read while the
 * previous one is being sent.
 */
export function resultsAsCsv(
  pages: AsyncIterable<ResultRow[]>,
  evaluators: string[],
  stored: StoredScores = NO_SCORES,
): Readable {
  const head = [
    ...FIXED,
    ...evaluators.flatMap((name) => [`score.${name}`, `reason.${name}`]),
    ...stored.names.map((name) => `stored.${name}`),
  ];
  async function* texts() {
    yield stringify([head]);
    for await (const rows of pages) {
      const values =
        stored.names.length === 0 ? undefined : await stored.valuesOf(rows.map(({ example_key: key }) => key));
      const storedCells = ({ example_key: key }: ResultRow) =>
        stored.names.map((name) => storedCell(values?.get(key)?.get(name)));
      yield stringify(rows.map((row) => [...cells(row, evaluators), ...storedCells(row)]));
    }
  }
  return Readable.from(texts(), { objectMode: false });
}
