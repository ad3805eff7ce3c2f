import { createHash } from 'node:crypto';
import { canonicalJson } from '../domain/text/canonical-json.ts';
import type { JsonValue } from '../domain/text/json.ts';
import type { EvaluatorConfig } from './registry.ts';

const LENGTH = 12;

/**
 * A short hash of an evaluator's settings: another one where it may score in another way. Its name, weight and secret don't count.
 * @returns 12 hexadecimal digits
 */
export function evaluatorVersion(config: EvaluatorConfig): string {
  // What is left out is a setting, too: as JSON it is not there.
  const settings: Record<string, JsonValue> = JSON.parse(
    JSON.stringify({ ...config, name: '', weight: 1, secret: '' }),
  );
  return createHash('sha256').update(canonicalJson(settings)).digest('hex').slice(0, LENGTH);
}
