import { isObject, type Json } from '../json.ts';
import { LongNumberError, parseExactly } from '../long-numbers.ts';
import { parseYaml } from './source-files.ts';
import { TemplateError } from './template-text.ts';

/** A `.prompt` file: its front matter, and its messages or its single text. */
export interface HumanloopPromptFile {
  settings: Json;
  template: string | Json[];
}

const FRONT_MATTER = /^\uFEFF?---[ \t]*\r?\n([\s\S]*?)\r?\n---[ \t]*(?:\r?\n|$)/;
const OPEN = /<(system|developer|user|assistant|tool)((?:\s+[\w-]+="[^"]*")*)\s*>/g;

function attributes(text: string): Map<string, string> {
  return new Map([...text.matchAll(/([\w-]+)="([^"]*)"/g)].map(([, name = '', value = '']) => [name, value]));
}

/** Removes the line ends next to tags, and the common indentation. */
function dedent(text: string): string {
  const lines = text
    .replace(/^[ \t]*\r?\n/, '')
    .replace(/\r?\n[ \t]*$/, '')
    .split(/\r?\n/);
  const indents = lines.filter((line) => line.trim() !== '').map((line) => /^[ \t]*/.exec(line)?.[0].length ?? 0);
  const indent = indents.length === 0 ? 0 : Math.min(...indents);
  return lines.map((line) => line.slice(indent)).join('\n');
}

function parseArguments(text: string): unknown {
  try {
    return parseExactly(text);
  } catch (error) {
    if (error instanceof LongNumberError) throw new TemplateError(`the arguments of a tool call: ${error.message}`);
    throw new TemplateError('a tool call in it has arguments that are not valid JSON');
  }
}

const PART =
  /<image\s+url="([^"]*)"\s*\/?>(?:\s*<\/image>)?|<text>([\s\S]*?)<\/text>|<tool((?:\s+[\w-]+="[^"]*")*)\s*>([\s\S]*?)<\/tool>/g;

/** Converts the content of a message to OpenAI's chat format, whose texts are templates. */
function readContent(role: string, inside: string): Json {
  const parts: Json[] = [];
  const calls: Json[] = [];
  let rest = '';
  let end = 0;
  for (const { 0: whole, 1: image, 2: text, 3: called, 4: input = '', index } of inside.matchAll(PART)) {
    rest += inside.slice(end, index);
    end = index + whole.length;
    if (image !== undefined) parts.push({ type: 'image_url', image_url: { url: image } });
    else if (text !== undefined) parts.push({ type: 'text', text: dedent(text) });
    else {
      const given = attributes(called ?? '');
      if (role !== 'assistant') throw new TemplateError(`a ${role} message in it has a tool call`);
      calls.push({ id: given.get('id'), function: { name: given.get('name'), arguments: parseArguments(input) } });
    }
  }
  rest += inside.slice(end);
  if (parts.length === 0 && calls.length === 0) return { role, content: dedent(inside) };
  if (rest.trim() !== '') parts.unshift({ type: 'text', text: dedent(rest) });
  return { role, content: parts, ...(calls.length > 0 && { tool_calls: calls }) };
}

/**
 * Reads a `.prompt` file of Humanloop.
 * @throws TemplateError, ImportError if it is not one
 */
export function parseHumanloopPrompt(text: string, file: string): HumanloopPromptFile {
  const match = FRONT_MATTER.exec(text);
  if (match === null) throw new TemplateError('it has no front matter between lines of three dashes');
  const settings = parseYaml(match[1] ?? '', file);
  if (!isObject(settings)) throw new TemplateError('its front matter is not a mapping');
  const body = text.slice(match[0].length);
  if (settings['endpoint'] === 'complete') return { settings, template: dedent(body) };
  const messages: Json[] = [];
  let end = 0;
  OPEN.lastIndex = 0;
  for (let open = OPEN.exec(body); open !== null; open = OPEN.exec(body)) {
    const [tag, role = '', given = ''] = open;
    const between = body.slice(end, open.index);
    if (between.trim() !== '')
      throw new TemplateError(`it has text outside of a message: "${between.trim().slice(0, 40)}"`);
    const start = open.index + tag.length;
    const close = closeOf(body, role, start);
    const inside = body.slice(start, close);
    if (role === 'tool') {
      const { id, name } = Object.fromEntries(attributes(given));
      messages.push({ role, tool_call_id: id, name, content: dedent(inside) });
    } else messages.push(readContent(role, inside));
    end = close + `</${role}>`.length;
    OPEN.lastIndex = end;
  }
  if (body.slice(end).trim() !== '')
    throw new TemplateError(`it has text outside of a message: "${body.slice(end).trim().slice(0, 40)}"`);
  if (messages.length === 0) throw new TemplateError('it has no messages');
  return { settings, template: messages };
}

function closeOf(body: string, role: string, from: number): number {
  const close = body.indexOf(`</${role}>`, from);
  if (close === -1) throw new TemplateError(`it has a <${role}> that is not closed`);
  return close;
}
