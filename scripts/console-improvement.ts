import { chanceOf, messagesOf } from '../test/support/hidden-rules.ts';
import type { CannedAnswer, RecordedCall } from '../test/support/providers/protocol.ts';

// An improvement for the screenshots: a prompt that sorts messages of customers, and a model that finds the rules it lacks.

export const REFLECTOR = 'openai/gpt-4.1';
const TASK = 'Sort the message of a customer into orders, goods or payment. Answer with one word.';

const TOPICS = [
  {
    topic: 'orders',
    rule: 'Parcels, deliveries and addresses belong to orders, also if the customer is angry about them.',
    found: 'Questions about a late parcel are sorted into goods.',
    messages: ['Where is my parcel?', 'The courier came too late.', 'I have moved: please change the address.'],
  },
  {
    topic: 'goods',
    rule: 'Something that is broken, scratched or missing in the box belongs to goods.',
    found: 'Damage that is found at the delivery is sorted into orders.',
    messages: ['My cup arrived broken.', 'The plate has a scratch.', 'One of six spoons is missing in the box.'],
  },
  {
    topic: 'payment',
    rule: 'Invoices, cards and refunds belong to payment, also if they are about an order.',
    found: 'Invoices of an order are sorted into orders.',
    messages: ['Can I pay by invoice?', 'My card was charged twice.', 'When do I get my refund?'],
  },
] as const;

/** The bodies of `POST /prompts`, `PUT /datasets/{name}` and `POST /improvements`. */
export function improvementBodies(model: string) {
  const name = 'support/topic';
  const examples = Array.from({ length: 220 }, (_, index) => {
    const { topic, messages } = TOPICS[index % TOPICS.length] ?? TOPICS[0];
    const message = `${messages[Math.floor(index / TOPICS.length) % messages.length]} (order ${1_000 + index})`;
    return { id: `message-${index + 1}`, variables: { message }, expected: topic };
  });
  return {
    name,
    prompt: {
      name,
      model,
      messages: [
        { role: 'system', content: TASK },
        { role: 'user', content: '{{ message }}' },
      ],
    },
    examples,
    improvement: {
      prompt_name: name,
      dataset: name,
      evaluators: [{ type: 'exact_match', name: 'right' }],
      reflection: { model: REFLECTOR, parameters: { max_tokens: 2_000 }, instructions: 'Keep it short.' },
      max_cost: 5,
      max_proposals: 20,
      seed: 'screenshots',
    },
  };
}

/** Answers the task, and reflections on it; undefined for other calls. */
export function answerImprovement(call: RecordedCall): CannedAnswer | undefined {
  const messages = messagesOf(call);
  const all = messages.map(({ text }) => text).join('\n');
  if (!all.includes(TASK.slice(0, 40))) return undefined;
  if (call.body['model'] === REFLECTOR.split('/')[1]) return { text: reflect(all) };
  const system = messages.find(({ role }) => role === 'system')?.text ?? '';
  const message = messages.findLast(({ role }) => role === 'user')?.text ?? '';
  const at = TOPICS.findIndex(({ messages: own }) => own.some((each) => message.startsWith(each)));
  const knows = system.includes(TOPICS[at]?.rule ?? '');
  const isRight = chanceOf(`${system} ${message}`) < (knows ? 0.94 : 0.5);
  const text = TOPICS[isRight ? at : (at + 1) % TOPICS.length]?.topic ?? 'orders';
  return { text, usage: { input: Math.ceil(all.length / 4), output: 2 } };
}

function reflect(all: string): string {
  const part = /messages\.0:\n<[^>]+>\n([\s\S]*?)\n<\/[^>]+>/.exec(all)?.[1] ?? TASK;
  const draw = chanceOf(all);
  const missing = TOPICS.filter(({ rule }) => !part.includes(rule));
  const next = missing[Math.floor(draw * 1_000) % Math.max(missing.length, 1)];
  const answerOf = (change: string, diagnosis: string, text: string) =>
    JSON.stringify({ diagnosis: [diagnosis], change, parts: [{ part: 'messages.0', text }] });
  if (next === undefined || draw < 0.15)
    return answerOf('Asks for more care.', 'Some answers look rushed.', `${part}\nRead the message twice.`);
  if (draw < 0.3)
    return answerOf('Names the customer.', 'The tone does not fit.', `${part}\nThe customer is {{ customer }}.`);
  return answerOf(`States a rule for ${next.topic}.`, next.found, `${part}\n${next.rule}`);
}
