import { z } from 'zod';
import type { ModelParameters } from '../domain/parameters.ts';

const SECTION = /^(Output|Expected):[ \t]*(.*)$/;

const Scale = z.object({
  properties: z.object({ score: z.object({ minimum: z.number().default(0), maximum: z.number().default(1) }) }),
});

/**
 * A judge's answer, `{"reason", "score"}`, without a model: the highest score of the asked-for schema (default 1) when the
 * text after the line `Output:` equals the text after the line `Expected:`, else the lowest (default 0). A section ends where
 * the other begins, or with the prompt; white space around it doesn't count.
 */
export function judge(prompt: string, format: ModelParameters['response_format']): string {
  const scale = Scale.safeParse(format?.type === 'json_schema' ? format.json_schema.schema : undefined);
  const { minimum, maximum } = scale.success ? scale.data.properties.score : { minimum: 0, maximum: 1 };
  const { Output: output, Expected: expected } = sectionsOf(prompt);
  if (output === undefined || expected === undefined) {
    return JSON.stringify({ reason: 'The prompt has no Output: and Expected: sections.', score: minimum });
  }
  return output === expected
    ? JSON.stringify({ reason: 'The output equals the expected text.', score: maximum })
    : JSON.stringify({ reason: 'The output differs from the expected text.', score: minimum });
}

function sectionsOf(prompt: string): Record<string, string> {
  const lines: Record<string, string[]> = {};
  let section: string[] | undefined;
  for (const line of prompt.split('\n')) {
    const [, name, rest] = SECTION.exec(line) ?? [];
    if (name !== undefined) {
      section = [rest ?? ''];
      lines[name] = section;
    } else {
      section?.push(line);
    }
  }
  return Object.fromEntries(Object.entries(lines).map(([name, text]) => [name, text.join('\n').trim()]));
}
