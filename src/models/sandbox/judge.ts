import { z } from 'zod';
import type { ModelParameters } from '../../domain/prompts/parameters.ts';

const LABEL = /^(Output|Expected):[ \t]*(.*)$/;
const FENCE = /^<([\w-]+)>$/;
const RANGE = /\bfrom (-?\d+(?:\.\d+)?) to (-?\d+(?:\.\d+)?)/;

const ScoreSchema = z.object({
  properties: z.object({
    score: z.object({
      minimum: z.number().optional(),
      maximum: z.number().optional(),
      description: z.string().default(''),
    }),
  }),
});

const CategorySchema = z.object({
  properties: z.object({ category: z.object({ enum: z.array(z.string()).min(1) }) }),
});

/**
 * The response of a judge, `{"reason", "score"}` or `{"reason", "category"}`, without a model: the highest score or the first category if
 * the text after the line `Output:` equals the text after the line `Expected:`, otherwise the lowest or the last. A text can be enclosed
 * in fences, `<fence>` and `</fence>` on separate lines; without them it ends where the other begins, or with the prompt. Surrounding
 * white space is ignored. The scale comes from the requested schema: the bounds of `score`, or "from 1 to 5" in its description; default
 * 0 to 1.
 */
export function judge(prompt: string, format: ModelParameters['response_format']): string {
  const { worst, best } = answersOf(format);
  const texts = textsOf(prompt);
  const [output, expected] = [texts.get('Output'), texts.get('Expected')];
  if (output === undefined || expected === undefined)
    return JSON.stringify({ reason: 'The prompt has no Output: and Expected: sections.', ...worst });
  return output === expected
    ? JSON.stringify({ reason: 'The output equals the expected text.', ...best })
    : JSON.stringify({ reason: 'The output differs from the expected text.', ...worst });
}

function answersOf(format: ModelParameters['response_format']): { worst: object; best: object } {
  const categories = CategorySchema.safeParse(format?.type === 'json_schema' ? format.json_schema.schema : undefined);
  if (categories.success) {
    const all = categories.data.properties.category.enum;
    return { worst: { category: all.at(-1) }, best: { category: all[0] } };
  }
  const { lowest, highest } = scaleOf(format);
  return { worst: { score: lowest }, best: { score: highest } };
}

function scaleOf(format: ModelParameters['response_format']): { lowest: number; highest: number } {
  const parsed = ScoreSchema.safeParse(format?.type === 'json_schema' ? format.json_schema.schema : undefined);
  if (!parsed.success) return { lowest: 0, highest: 1 };
  const { minimum, maximum, description } = parsed.data.properties.score;
  const [, from = 0, to = 1] = RANGE.exec(description) ?? [];
  return { lowest: minimum ?? Number(from), highest: maximum ?? Number(to) };
}

function textsOf(prompt: string): Map<string, string> {
  const texts = new Map<string, string[]>();
  let text: string[] | undefined;
  let fenceEnd: string | undefined;
  for (const line of prompt.split('\n')) {
    const [, label, rest = ''] = (fenceEnd === undefined && LABEL.exec(line)) || [];
    const fence = text?.join('') === '' && fenceEnd === undefined ? FENCE.exec(line)?.[1] : undefined;
    if (label !== undefined) {
      text = [rest];
      texts.set(label, text);
    } else if (fence !== undefined) {
      fenceEnd = `</${fence}>`;
    } else if (line === fenceEnd) {
      text = undefined;
      fenceEnd = undefined;
    } else {
      text?.push(line);
    }
  }
  return new Map([...texts].map(([label, lines]) => [label, lines.join('\n').trim()]));
}
