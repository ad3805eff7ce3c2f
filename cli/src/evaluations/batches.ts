import type { Api } from 'pms-client';
import { type Output, printLine, safeText } from '../context.ts';

const count = (number: number) => number.toLocaleString('en-US');

/** `312 of 1,000 calls`, as far as the provider reports it. */
const callsOf = ({ counts, items }: Api.ProviderBatch) =>
  counts === null
    ? `${count(items)} calls`
    : `${count(counts.succeeded + counts.failed)} of ${count(counts.total)} calls`;

const isUnfinished = ({ finished_at: finishedAt }: Api.ProviderBatch) => finishedAt === null;

/** A short text for a progress bar: ` | batch 2 in_progress, 312 of 1,000 calls`; empty if no batch is in progress. */
export function shortBatches({ batches = [] }: Api.Evaluation): string {
  const [first, ...others] = batches.filter(isUnfinished);
  if (first === undefined) return '';
  const more = others.length === 0 ? '' : ` and ${others.length} more`;
  return safeText(` | batch ${first.number} ${first.status}, ${callsOf(first)}${more}`);
}

function lineOf(batch: Api.ProviderBatch): string {
  const { number, provider, provider_batch_id: id, status, expires_at: expiresAt, error } = batch;
  return [
    `batch ${number} at ${provider}${id === null ? '' : ` (${id})`}: ${status}`,
    callsOf(batch),
    ...(isUnfinished(batch) && expiresAt !== null ? [`expected by ${expiresAt}`] : []),
    ...(error === null ? [] : [`${error.code}: ${error.message}`]),
    ...(status === 'unknown' ? ['the provider may have it; see docs/batches.md'] : []),
  ].join(', ');
}

/** Prints a line for each batch and for each change of its state. */
export function createBatchTeller(output: Output): (evaluation: Api.Evaluation) => void {
  const told = new Map<number, string>();
  return ({ batches = [] }) => {
    for (const batch of batches) {
      if (told.get(batch.number) === batch.status) continue;
      told.set(batch.number, batch.status);
      printLine(output, safeText(lineOf(batch)));
    }
  };
}

/** `, saved $0.0132 by batches`, if they saved anything. */
export const savedText = ({ savings }: Api.Evaluation): string =>
  savings === undefined || Number(savings.amount ?? 0) === 0 ? '' : `, saved $${savings.amount} by batches`;
