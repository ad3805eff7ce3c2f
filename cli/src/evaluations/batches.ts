import type { Api } from 'pms-client';
import { type Output, printLine, safeText } from '../context.ts';

const count = (number: number) => number.toLocaleString('en-US');

/** `312 of 1,000 calls`, as far as the provider says. */
const callsOf = ({ counts, items }: Api.ProviderBatch) =>
  counts === null
    ? `${count(items)} calls`
    : `${count(counts.succeeded + counts.failed)} of ${count(counts.total)} calls`;

const isUnfinished = ({ finished_at: finishedAt }: Api.ProviderBatch) => finishedAt === null;

/** What a bar has place for: ` | batch 2 in_progress, 312 of 1,000 calls`; empty where no batch is under way. */
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

/** Prints a line for each batch, and another one whenever its state has changed. */
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

/** `, saved $0.0132 by batches`, where they have saved something. */
export const savedText = ({ savings }: Api.Evaluation): string =>
  savings === undefined || Number(savings.amount ?? 0) === 0 ? '' : `, saved $${savings.amount} by batches`;
