import type { Json } from '../../json.ts';
import { TemplateError } from '../template-text.ts';

/**
 * Fills `{{ name }}` with the variables of one test, as nunjucks would. Anything else that it would compute is rejected.
 * @throws TemplateError
 */
export function render(text: string, variables: Json): string {
  const filled = text.replace(/\{\{\s*([A-Za-z_]\w*)\s*\}\}/g, (_, name: string) => {
    const value = Object.hasOwn(variables, name) ? variables[name] : undefined;
    if (typeof value !== 'string' && typeof value !== 'number')
      throw new TemplateError(`it uses "{{ ${name} }}", for which the test has no text`);
    return String(value);
  });
  // A value with braces would have been rendered too, with an unknown result.
  if (/\{\{|\{%|\{#/.test(filled)) throw new TemplateError('it is a template with logic');
  return filled;
}
