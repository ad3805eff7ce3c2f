import type { Json } from '../../json.ts';
import { parseExactly } from '../../long-numbers.ts';

const FROM_TEXT = /^(not-)?([a-z][a-z0-9-]*)(?:\((\d+(?:\.\d+)?)\))?(?::([\s\S]*))?$/;
const TEXT_TYPES = new Set(
  `equals contains icontains contains-all contains-any icontains-all icontains-any starts-with regex is-json contains-json latency cost
   llm-rubric similar levenshtein javascript python factuality model-graded-closedqa answer-relevance context-recall context-relevance
   context-faithfulness is-sql contains-sql is-xml contains-xml is-html contains-html webhook rouge-n bleu gleu meteor g-eval moderation
   perplexity classifier is-refusal word-count search-rubric`.split(/\s+/),
);
const ALIASES: Record<string, string> = { fn: 'javascript', eval: 'javascript', grade: 'llm-rubric' };

/** The assert for a cell of the column `__expected`. */
export function assertFromText(text: string): Json {
  if (text.startsWith('file://')) return { type: 'javascript', value: text };
  const [, not = '', said = '', threshold, value] = FROM_TEXT.exec(text) ?? [];
  const type = Object.hasOwn(ALIASES, said) && value !== undefined ? (ALIASES[said] ?? '') : said;
  if (!TEXT_TYPES.has(type) || (value === undefined && threshold === undefined && !/^(is|contains)-/.test(type)))
    return { type: 'equals', value: text };
  const assert: Json = { type: `${not}${type}` };
  if (threshold !== undefined) assert['threshold'] = Number(threshold);
  if (value === undefined) return assert;
  const trimmed = value.trim();
  assert['value'] = /-(?:all|any)$/.test(type) ? trimmed.split(',').map((item) => item.trim()) : trimmed;
  if (type === 'is-json') {
    try {
      assert['value'] = parseExactly(trimmed);
    } catch {
      // Rejected later as an invalid schema.
    }
  }
  return assert;
}
