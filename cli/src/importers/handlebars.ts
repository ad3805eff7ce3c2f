import { TemplateError } from './template-text.ts';

/** The pieces of a dotprompt template. */
export type HandlebarsPiece =
  | string
  | { variable: string }
  | { partial: string }
  | { role: string }
  | { history: true }
  | { media: { url: string | { variable: string }; contentType: string | undefined } };

const NAME = /^[A-Za-z_][\w-]*(?:\.[A-Za-z_][\w-]*)*$/;
function textArgument(inside: string, helper: string): string | undefined {
  return new RegExp(`^${helper}\\s+(?:"([^"]*)"|'([^']*)')$`)
    .exec(inside)
    ?.slice(1)
    .find((text) => text !== undefined);
}

/** `url="https://…"`, `url=photo`. */
function hash(text: string): Map<string, { text: string } | { variable: string }> {
  const found = new Map<string, { text: string } | { variable: string }>();
  for (const [, name = '', double, single, variable] of text.matchAll(/([\w-]+)=(?:"([^"]*)"|'([^']*)'|([^\s"']+))/g))
    found.set(name, variable === undefined ? { text: double ?? single ?? '' } : { variable });
  return found;
}

function media(inside: string): HandlebarsPiece {
  const given = hash(inside);
  const url = given.get('url');
  const type = given.get('contentType') ?? given.get('mime');
  if (url === undefined || (type !== undefined && !('text' in type)))
    throw new TemplateError(`the template has a media helper that cannot be read ("{{${inside.slice(0, 40)}}}")`);
  return { media: { url: 'text' in url ? url.text : url, contentType: type?.text } };
}

function readTag(inside: string): HandlebarsPiece {
  const role = textArgument(inside, 'role');
  if (role !== undefined) return { role };
  if (inside === 'history') return { history: true };
  if (inside.startsWith('media ')) return media(inside);
  const partial = /^>\s*([\w./-]+)$/.exec(inside)?.[1];
  if (partial !== undefined) return { partial };
  if (NAME.test(inside) && inside !== 'this' && !inside.startsWith('this.')) return { variable: inside };
  throw new TemplateError(`the template has more than a plain variable ("{{${inside.slice(0, 40)}}}")`);
}

/** A tag from `from` up to `to`, without its braces. */
interface Tag {
  from: number;
  to: number;
  inside: string;
}

/** Finds the next tag from left to right, in linear time. @throws TemplateError if it is not closed */
function nextTag(text: string, after: number): Tag | undefined {
  const from = text.indexOf('{{', after);
  if (from === -1) return undefined;
  const braces = text.startsWith('{{{', from) ? '}}}' : '}}';
  const start = from + braces.length;
  const isComment = text.startsWith('!--', start);
  const close = isComment ? text.indexOf('--}}', start + 3) : text.indexOf(braces, start);
  if (close === -1) throw new TemplateError('the template has a tag that is not closed');
  const end = isComment ? close + 2 : close;
  return { from, to: end + braces.length, inside: text.slice(start, end) };
}

/** The number of backslashes before a position. */
function backslashesBefore(text: string, at: number): number {
  let count = 0;
  while (text[at - count - 1] === '\\') count += 1;
  return count;
}

/** The line of a tag including its line end, if it contains nothing else; otherwise undefined. */
function lineOf(text: string, { from, to }: Tag): { from: number; to: number } | undefined {
  let start = from;
  while (text[start - 1] === ' ' || text[start - 1] === '\t') start -= 1;
  let end = to;
  while (text[end] === ' ' || text[end] === '\t' || (text[end] === '\r' && text[end + 1] === '\n')) end += 1;
  const isAlone = (start === 0 || text[start - 1] === '\n') && (end === text.length || text[end] === '\n');
  return isAlone ? { from: start, to: Math.min(end + 1, text.length) } : undefined;
}

/**
 * Splits a dotprompt template into pieces. There is no HTML escaping, so triple braces are equivalent to double ones.
 * @throws TemplateError if it computes something
 */
export function readHandlebars(text: string): HandlebarsPiece[] {
  const pieces: HandlebarsPiece[] = [];
  let done = 0;
  for (let tag = nextTag(text, 0); tag !== undefined; tag = nextTag(text, done)) {
    if (backslashesBefore(text, tag.from) % 2 === 1) {
      // A preceding backslash makes a tag literal.
      pieces.push(text.slice(done, tag.from - 1), text.slice(tag.from, tag.to));
      done = tag.to;
      continue;
    }
    const content = tag.inside.trim();
    if (content.startsWith('~') || content.endsWith('~'))
      throw new TemplateError('the template removes white space around a tag ("~")');
    const piece = content.startsWith('!') ? '' : readTag(content);
    // A partial or a comment on a line of its own consumes the line.
    const takesLine = piece === '' || (typeof piece !== 'string' && 'partial' in piece);
    const { from, to } = (takesLine && lineOf(text, tag)) || tag;
    if (piece !== '' && takesLine && from < tag.from) throw new TemplateError('the template indents a partial');
    pieces.push(text.slice(done, Math.max(done, from)), piece);
    done = to;
  }
  pieces.push(text.slice(done));
  return pieces.filter((piece) => piece !== '');
}
