import path from 'node:path';
import MarkdownIt, { type Token } from 'markdown-it';

/** A heading and the text below it, up to the next heading. */
export interface Section {
  heading: string;
  /** The heading's `id` on its page; empty for the part above the first heading. */
  anchor: string;
  text: string;
}

/** A guide, rendered and indexed. */
export interface RenderedGuide {
  title: string;
  html: string;
  sections: Section[];
}

/**
 * Maps the target of a guide's link or image to its address on this server.
 * @param file path from the root of the project: `docs/prompts.md`
 * @returns undefined if it is not served
 */
export type Locate = (file: string) => string | undefined;

/** HTML in a guide is shown as text, never included in the page. */
const markdown = new MarkdownIt({ html: false });
const { rules } = markdown.renderer;
const { escapeHtml } = markdown.utils;
// Blocks that can be wider than the page scroll on their own, also with the keyboard.
rules['fence'] = (tokens, index) =>
  `<pre tabindex="0"><code>${escapeHtml(tokens[index]?.content ?? '')}</code></pre>\n`;
rules['table_open'] = () => '<div class="table" tabindex="0"><table>\n';
rules['table_close'] = () => '</table></div>\n';

/** The `id` of a heading, as on GitHub. */
function slug(heading: string): string {
  return heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N}_\- ]/gu, '')
    .replaceAll(' ', '-');
}

/** The plain text of a line, without its markup. */
function plainText(token: Token): string {
  const children = token.children ?? [];
  return children.map((child) => (child.type === 'softbreak' ? ' ' : child.content)).join('');
}

const isElsewhere = (target: string) => /^[a-z][a-z0-9+.-]*:/i.test(target);

/** The address of a link target. @returns undefined if this server does not have it */
function addressOf(target: string, file: string, locate: Locate): string | undefined {
  if (isElsewhere(target) || target.startsWith('#')) return target;
  const [to = '', heading] = target.split('#');
  const found = locate(path.posix.join(path.posix.dirname(file), to));
  return found === undefined || heading === undefined ? found : `${found}#${heading}`;
}

/** Rewrites the links and images of a line to addresses here. Targets that are not served become plain text. */
function relocate(line: Token, file: string, locate: Locate): void {
  const hidden: boolean[] = [];
  line.children = (line.children ?? []).filter((token) => {
    if (token.type === 'link_close') return !hidden.pop();
    const attribute = token.type === 'link_open' ? 'href' : 'src';
    if (token.type !== 'link_open' && token.type !== 'image') return true;
    const address = addressOf(String(token.attrGet(attribute) ?? ''), file, locate);
    if (address !== undefined) token.attrSet(attribute, address);
    if (token.type === 'link_open') hidden.push(address === undefined);
    return address !== undefined;
  });
}

/** Empty table headers are not headers to screen readers. */
function unheadEmpty(tokens: Token[]): void {
  for (const [index, token] of tokens.entries()) {
    const close = tokens[index + 2];
    if (token.type !== 'th_open' || tokens[index + 1]?.content !== '' || close === undefined) continue;
    token.tag = 'td';
    close.tag = 'td';
  }
}

/** Renders a guide. @param file its path from the root of the project, to which its links are relative */
export function renderGuide(source: string, file: string, locate: Locate): RenderedGuide {
  const tokens = markdown.parse(source, {});
  unheadEmpty(tokens);
  const sections: Section[] = [{ heading: '', anchor: '', text: '' }];
  const taken = new Map<string, number>();
  let title = file;
  for (const [index, token] of tokens.entries()) {
    if (token.type === 'inline') relocate(token, file, locate);
    const before = tokens[index - 1];
    if (token.type === 'inline' && before?.type === 'heading_open') {
      const heading = plainText(token);
      const times = taken.get(slug(heading)) ?? 0;
      taken.set(slug(heading), times + 1);
      const anchor = times === 0 ? slug(heading) : `${slug(heading)}-${times}`;
      before.attrSet('id', anchor);
      if (before.tag === 'h1') title = heading;
      sections.push({ heading, anchor, text: '' });
    } else if (token.type === 'inline' || token.type === 'fence' || token.type === 'code_block') {
      const section = sections.at(-1);
      if (section) section.text += `${token.type === 'inline' ? plainText(token) : token.content}\n`;
    }
  }
  const html = markdown.renderer.render(tokens, markdown.options, {});
  return { title, html, sections: sections.filter(({ heading, text }) => heading !== '' || text !== '') };
}
