import { Counter, type Registry } from 'prom-client';
import type { UsageKind } from '../../db/entities/usage.ts';
import { providerLabel } from '../../models/model-metrics.ts';

/** The usage since the last time, by kind and provider. */
export interface Used {
  kind: UsageKind;
  provider: string;
  /** US dollars, as far as known. */
  cost: number;
  unpriced: number;
  tokensInput: number;
  tokensOutput: number;
}

/** Called with the usage that a process has added to the sums. */
export type OnUsed = (used: readonly Used[]) => void;

const NAMES = ['pms_spend_usd_total', 'pms_unpriced_responses_total', 'pms_tokens_total'];

/**
 * Registers metrics of model costs, replacing existing ones. They are counted when usage is summed up, which one worker does once
 * for each entry: sum them over the workers.
 * @returns the function to call with usage
 */
export function countSpend(registry: Registry): OnUsed {
  for (const name of NAMES) registry.removeSingleMetric(name);
  const registers = [registry];
  const spend = new Counter({
    name: 'pms_spend_usd_total',
    help: 'Known cost of calls to models',
    labelNames: ['provider', 'kind'],
    registers,
  });
  const unpriced = new Counter({
    name: 'pms_unpriced_responses_total',
    help: 'Responses of models whose cost is unknown',
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
      // A correction can be negative, but a counter can only increase.
      spend.inc({ provider, kind: used.kind }, Math.max(used.cost, 0));
      unpriced.inc({ provider }, Math.max(used.unpriced, 0));
      tokens.inc({ provider, type: 'input' }, Math.max(used.tokensInput, 0));
      tokens.inc({ provider, type: 'output' }, Math.max(used.tokensOutput, 0));
    }
  };
}
