import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { setImmediate } from 'node:timers/promises';
import type { Context, Middleware } from 'koa';
import { LRUCache } from 'lru-cache';
import { ApiError, notFound } from '../../domain/errors.ts';
import { FixedText } from '../compression.ts';
import { requireGet } from '../require-get.ts';
import { GUIDES_POLICY } from '../security-headers.ts';
import { renderGuide } from './markdown.ts';
import { foundPage, guidePage, STYLE } from './page.ts';
import { createSearch, type Found, MAX_QUESTION_LENGTH, type SearchedSection } from './search.ts';

const AT = '/docs/guides';
const MAX_ANSWERS = 500;
/** Guides outside `docs`. */
const AT_THE_ROOT = ['README.md', 'CHANGELOG.md'];
/** Ranked last: records of decisions, measurements and history mention everything, but are rarely what is wanted. */
const FOR_FEW =
  /^(docs\/decisions\/|docs\/(architecture|performance|releasing|reliability|security)\.md|CHANGELOG\.md)/;
const FIRST = 'docs/how-to.md';

/** All guides of an installation, by their path on this server. */
interface Guides {
  pages: Map<string, FixedText>;
  /** Image files. */
  images: Map<string, string>;
  search: (question: string) => Found[];
}

/** The address of a file of the project: `docs/README.md` is the first page. */
function addressOf(file: string): string {
  if (file === 'docs/README.md') return AT;
  const name = file.startsWith('docs/') ? file.slice('docs/'.length) : file.toLowerCase();
  return `${AT}/${name.replace(/\.md$/, '')}`;
}

function weightOf(file: string): number {
  if (file === FIRST) return 1.5;
  return FOR_FEW.test(file) ? 0.4 : 1;
}

async function readGuides(root: string): Promise<Guides> {
  const entries = await readdir(path.join(root, 'docs'), { recursive: true }).catch(() => []);
  const files = [...AT_THE_ROOT, ...entries.map((entry) => path.posix.join('docs', entry.replaceAll(path.sep, '/')))];
  const images = new Map(
    files.filter((file) => /\.(png|svg)$/.test(file)).map((file) => [addressOf(file), path.join(root, file)]),
  );
  const sources = new Map<string, string>();
  for (const file of files.filter((each) => each.endsWith('.md'))) {
    const source = await readFile(path.join(root, file), 'utf8').catch(() => undefined);
    if (source !== undefined) sources.set(file, source);
  }
  const locate = (file: string) => (sources.has(file) || images.has(addressOf(file)) ? addressOf(file) : undefined);
  const pages = new Map<string, FixedText>();
  const sections: SearchedSection[] = [];
  for (const [file, source] of sources) {
    // Yields to other requests.
    await setImmediate();
    const [guide, address, weight] = [renderGuide(source, file, locate), addressOf(file), weightOf(file)];
    pages.set(address, new FixedText(guidePage(guide.title, guide.html)));
    for (const section of guide.sections)
      sections.push({ ...section, guide: guide.title, address: `${address}#${section.anchor}`, weight });
  }
  return { pages, images, search: await createSearch(sections) };
}

async function sendPage(ctx: Context, page: FixedText): Promise<void> {
  ctx.set('Content-Security-Policy', GUIDES_POLICY);
  ctx.type = 'text/html';
  await page.send(ctx);
}

/** @throws ApiError `invalid_request` if there are several */
function questionOf({ query }: Context): string {
  const { q = '' } = query;
  if (typeof q !== 'string') throw new ApiError('invalid_request', 'q must be given once.');
  return q.trim().slice(0, MAX_QUESTION_LENGTH);
}

/**
 * `/docs/guides`: the guides of the project, as pages without scripts or external resources. `/docs/search?q=`: searches them. They are
 * read at the first request. Without guides, each of these pages is a 404.
 * @param root folder of the project that contains `docs`
 */
export function guideRoutes(root: string): Middleware {
  let reading: Promise<Guides> | undefined;
  const answers = new LRUCache<string, FixedText>({ max: MAX_ANSWERS });
  /** Cached on first use, so that concurrent requests share one copy. */
  const files = new Map<string, Buffer>();

  return async (ctx, next) => {
    const at = ctx.path === `${AT}/` ? AT : ctx.path;
    const isGuide = at === AT || at.startsWith(`${AT}/`);
    if (!isGuide && at !== '/docs/search' && at !== '/docs/guides.css') return next();
    requireGet(ctx);
    ctx.set('Cache-Control', 'no-cache');
    if (at === '/docs/guides.css') {
      ctx.type = 'text/css';
      ctx.body = STYLE;
      return;
    }
    reading ??= readGuides(root);
    const { pages, images, search } = await reading;
    if (!isGuide) {
      const question = questionOf(ctx);
      const answer =
        answers.get(question) ?? new FixedText(foundPage(question, question === '' ? [] : search(question)));
      answers.set(question, answer);
      return sendPage(ctx, answer);
    }
    const guide = pages.get(at);
    if (guide !== undefined) return sendPage(ctx, guide);
    const image = images.get(at);
    if (image === undefined) throw notFound('This guide');
    ctx.type = path.extname(image);
    ctx.set('Cache-Control', 'public, max-age=86400');
    const file = files.get(image) ?? (await readFile(image));
    files.set(image, file);
    ctx.body = file;
  };
}
