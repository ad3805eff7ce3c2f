import { Counter, type Registry } from 'prom-client';
import type { UsageKind } from '../../db/entities/usage.ts';
import { providerLabel } from '../../models/model-metrics.ts';

/** What was used since the last time, by kind and provider. */
export interface Used {
  kind: UsageKind;
  provider: string;
  /** US dollars, as far as they are known. */
  cost: number;
  unpriced: number;
  tokensInput: number;
  tokensOutput: number;
}

/** Tells of usage that a process has added to the sums. */
export type OnUsed = (used: readonly Used[]) => void;

const NAMES = ['pms_spend_usd_total', 'pms_unpriced_responses_total', 'pms_tokens_total'];

/**
 * Registers metrics of what models cost; existing ones are replaced. They are counted as usage is summed up, which each entry is once, by
 * one worker: sum them over the workers.
 * @returns to be told of usage
 */
export function countSpend(registry: Registry): OnUsed {
  for (const name of NAMES) registry.removeSingleMetric(name);
  const registers = [registry];
  const spend = new Counter({
    name: 'pms_spend_usd_total',
    help: 'What calls to models cost, as far as it is known',
    labelNames: ['provider', 'kind'],
    registers,
  });
  const unpriced = new Counter({
    name: 'pms_unpriced_responses_total',
    help: 'Responses of models whose cost is not known',
    labelNames: ['provider'],
    registers,
  });
  const tokens = new Counter({
    name: 'pms_tokens_total',
    help: 'Tokens that calls to models used',
    labelNames: ['provider', 'type'],
    registers,
  });
  return (all) => {
    for (const used of all) {
      const provider = providerLabel(used.provider);
      // A correction may take something back, and a counter only rises.
      spend.inc({ provider, kind: used.kind }, Math.max(used.cost, 0));
      unpriced.inc({ provider }, Math.max(used.unpriced, 0));
      tokens.inc({ provider, type: 'input' }, Math.max(used.tokensInput, 0));
      tokens.inc({ provider, type: 'output' }, Math.max(used.tokensOutput, 0));
    }
  };
}
