import { TemplateError } from './template-text.ts';

/** What a template of a dotprompt consists of. */
export type HandlebarsPiece =
  | string
  | { variable: string }
  | { partial: string }
  | { role: string }
  | { history: true }
  | { media: { url: string | { variable: string }; contentType: string | undefined } };

const TAG = /(\\*)(\{\{\{?)(~?)(!--[\s\S]*?--|[^{}]*?)(~?)(\}?\}\})/g;
const NAME = /^[A-Za-z_][\w-]*(?:\.[A-Za-z_][\w-]*)*$/;
/** A tag that is alone on its line takes the line with it where it is a partial or a comment. */
const LINE_BEFORE = /(?:^|\n)[ \t]*$/;
const LINE_AFTER = /^[ \t]*(?:\r?\n|$)/;

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
    throw new TemplateError(`the template has a media that can't be read ("{{${inside.slice(0, 40)}}}")`);
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

/** Text between tags. */
function plain(text: string): string {
  if (text.includes('{{')) throw new TemplateError('the template has a tag that is not closed');
  return text;
}

/**
 * Takes a template of a dotprompt apart. Nothing in it is escaped as HTML, so three braces say the same as two.
 * @throws TemplateError where it computes something
 */
export function readHandlebars(text: string): HandlebarsPiece[] {
  const pieces: HandlebarsPiece[] = [];
  let done = 0;
  for (const match of text.matchAll(TAG)) {
    const [whole, slashes = '', , before, inside = '', after] = match;
    let from = match.index + slashes.length;
    let to = match.index + whole.length;
    if (slashes.length % 2 === 1) {
      // A backslash in front makes a tag text.
      pieces.push(plain(text.slice(done, from - 1)), text.slice(from, to));
      done = to;
      continue;
    }
    if (before !== '' || after !== '') throw new TemplateError('the template takes white space off around a tag ("~")');
    const content = inside.trim();
    const piece = content.startsWith('!') ? '' : readTag(content);
    const takesLine = piece === '' || (typeof piece !== 'string' && 'partial' in piece);
    if (takesLine && LINE_BEFORE.test(text.slice(0, from)) && LINE_AFTER.test(text.slice(to))) {
      const lineStart = text.lastIndexOf('\n', from - 1) + 1;
      if (piece !== '' && lineStart < from) throw new TemplateError('the template indents a partial');
      from = lineStart;
      to += LINE_AFTER.exec(text.slice(to))?.[0].length ?? 0;
    }
    pieces.push(plain(text.slice(done, from)), piece);
    done = to;
  }
  pieces.push(plain(text.slice(done)));
  return pieces.filter((piece) => piece !== '');
}
