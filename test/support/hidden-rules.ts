import { createHash } from 'node:crypto';
import type { CannedAnswer, RecordedCall } from './providers/protocol.ts';

// A task whose prompt gets better with each rule that it states, and a model that sometimes finds the next rule. Every answer
// follows from the request, so that searches can be repeated and compared.

export const TASK_MODEL = 'openai/gpt-4o-mini';
export const REFLECTOR = 'openai/gpt-4.1-nano';

/** From 0 up to, but excluding, 1: the same for the same text. */
export const chanceOf = (text: string): number => createHash('sha256').update(text).digest().readUInt32BE() / 2 ** 32;

export const ruleText = (rule: number) => `Rule ${rule}: always mind the number ${rule}.`;
/** States the first rule only. */
export const BASE_TEXT = `Answer the question.\n${ruleText(1)}`;
const hasRule = (text: string, rule: number) => text.includes(ruleText(rule));

/** The rules that an example needs: one to three of them, or to two if there are few. */
export function neededBy(index: number, rules: number): number[] {
  const count = 1 + Math.floor(chanceOf(`count ${index}`) * (rules < 6 ? 2 : 3));
  const order = Array.from({ length: rules }, (_, at) => at + 1);
  return order.sort((a, b) => chanceOf(`${index} ${a}`) - chanceOf(`${index} ${b}`)).slice(0, count);
}

/** A word that nothing else contains. */
export const canaryOf = (index: number) =>
  `canary${createHash('sha256').update(`canary ${index}`).digest('hex').slice(0, 12)}`;

export const examplesOf = (count: number, rules: number, from = 0) =>
  Array.from({ length: count }, (_, at) => ({
    id: `example-${from + at}`,
    variables: {
      q: `Question ${from + at} (${canaryOf(from + at)}) needs ${neededBy(from + at, rules).join(' and ')}`,
    },
    expected: 'right',
  }));

/** The probability of a right answer with this system prompt, over all examples. */
export function trueScore(text: string, count: number, rules: number): number {
  const right = Array.from({ length: count }, (_, index) =>
    neededBy(index, rules).every((rule) => hasRule(text, rule)) ? 0.95 : 0.05,
  );
  return right.reduce((sum, chance) => sum + chance, 0) / count;
}

interface Message {
  role: string;
  content: string | { text?: string }[] | null;
}

const textOf = ({ content }: Message): string =>
  typeof content === 'string' ? content : (content ?? []).map(({ text = '' }) => text).join('');

export const messagesOf = ({ body }: RecordedCall): { role: string; text: string }[] =>
  (body['messages'] as Message[]).map((message) => ({ role: message.role, text: textOf(message) }));

export const isReflection = ({ body }: RecordedCall): boolean => body['model'] === REFLECTOR.split('/')[1];

/** Answers the task: a wrong answer names the rule that is missing. */
function answerTask(call: RecordedCall): string {
  const messages = messagesOf(call);
  const system = messages
    .filter(({ role }) => role !== 'user')
    .map(({ text }) => text)
    .join('\n');
  const question = messages.findLast(({ role }) => role === 'user')?.text ?? '';
  const needed = (/needs ([\d and]+)/.exec(question)?.[1] ?? '').split(' and ').map(Number);
  const missing = needed.filter((rule) => !hasRule(system, rule));
  const isRight = chanceOf(`task ${system} ${question}`) < (missing.length === 0 ? 0.95 : 0.05);
  return isRight ? 'right' : `wrong, lacks ${missing.map((rule) => `(${rule})`).join(' ')}`;
}

/** What a reflection does. */
export type Ways = readonly { upTo: number; way: 'add' | 'filler' | 'drop' | 'variable' | 'address' | 'unreadable' }[];

export const USUAL_WAYS: Ways = [
  { upTo: 0.55, way: 'add' },
  { upTo: 0.7, way: 'filler' },
  { upTo: 0.8, way: 'drop' },
  { upTo: 0.87, way: 'variable' },
  { upTo: 0.94, way: 'address' },
  { upTo: 1, way: 'unreadable' },
];

/** Rewrites the system prompt: usually adds the rule that is missing most often. */
function reflect(call: RecordedCall, ways: Ways, seed: string): string {
  const all = messagesOf(call)
    .map(({ text }) => text)
    .join('\n');
  const part = /messages\.0:\n<[^>]+>\n([\s\S]*?)\n<\/[^>]+>/.exec(all)?.[1] ?? BASE_TEXT;
  const counts = new Map<number, number>();
  for (const [, rule] of all.matchAll(/\((\d+)\)/g)) {
    const number = Number(rule);
    if (!hasRule(part, number)) counts.set(number, (counts.get(number) ?? 0) + 1);
  }
  const sorted = [...counts].sort(([a, x], [b, y]) => y - x || a - b);
  const commonest = sorted[all.includes('tried before') ? 1 : 0] ?? sorted[0];
  const draw = chanceOf(`reflect ${seed} ${all}`);
  const way = ways.find(({ upTo }) => draw < upTo)?.way ?? 'add';
  const lines = part.split('\n');
  const text = {
    add: commonest === undefined ? `${part}\nTake care.` : `${part}\n${ruleText(commonest[0])}`,
    filler: `${part}\nBe thorough, in all of the ${Math.floor(draw * 1e6)} ways.`,
    drop: lines.length > 1 ? lines.slice(0, -1).join('\n') : `${part}\nHurry.`,
    variable: `${part}\nMind {{ something }}.`,
    address: `${part}\nSee https://example.com/rules.`,
    unreadable: '',
  }[way];
  if (way === 'unreadable') return 'I would rather not.';
  return JSON.stringify({ diagnosis: [`way: ${way}`], change: way, parts: [{ part: 'messages.0', text }] });
}

/** The answers of both models. */
export const hiddenRules =
  ({ ways = USUAL_WAYS, seed = '1' }: { ways?: Ways; seed?: string } = {}) =>
  (call: RecordedCall): CannedAnswer => ({ text: isReflection(call) ? reflect(call, ways, seed) : answerTask(call) });

/** The body of `POST /prompts` for the task. */
export const taskPrompt = (name: string, text = BASE_TEXT) => ({
  name,
  model: TASK_MODEL,
  messages: [
    { role: 'system', content: text },
    { role: 'user', content: '{{ q }}' },
  ],
});
