import { type Document, isPair, isScalar, isSeq, visit } from 'yaml';
import { keepsDigits } from '../../src/domain/prompt-rules/number-digits.ts';
import { LongNumberError } from './long-numbers.ts';

/** Numbers in JSON syntax; YAML has others. */
const JSON_NUMBER = /^-?\d+(\.\d+)?([eE][+-]?\d+)?$/;

function losesDigits(value: unknown, source: string): boolean {
  if (typeof value !== 'number' || Number.isNaN(value) || /inf/i.test(source)) return false;
  const plain = source.replaceAll('_', '').replace(/^\+/, '');
  return JSON_NUMBER.test(plain) ? !keepsDigits(plain) : Number.isInteger(value) && !Number.isSafeInteger(value);
}

/** @throws LongNumberError if a number in a YAML document would lose digits */
export function requireExactNumbers(document: Pick<Document, 'contents'>): void {
  visit(document as Document, {
    Scalar(key, { value, source }, ancestors) {
      // A key is a string.
      if (source === undefined || key === 'key' || !losesDigits(value, source)) return;
      throw new LongNumberError(
        ancestors.flatMap((node, index): (string | number)[] => {
          const inner = ancestors[index + 1];
          if (isPair(node)) return [isScalar(node.key) ? String(node.key.value) : ''];
          const at = isSeq(node) ? node.items.indexOf(inner ?? null) : -1;
          return isSeq(node) ? [at === -1 && typeof key === 'number' ? key : at] : [];
        }),
      );
    },
  });
}
