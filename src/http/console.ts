import { randomBytes } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import type { Context, Middleware } from 'koa';
import { ApiError } from '../domain/errors.ts';
import { requireGet } from './require-get.ts';
import { consolePolicy } from './security-headers.ts';

/** The settings of this installation that the web console gets before sign-in. */
export interface ConsoleConfig {
  version: string;
  /** Address of workflows in Temporal's UI; a workflow's id is appended. Null if no UI is known. */
  temporal_workflows_url: string | null;
  sign_in: {
    /** The identity providers available for sign-in, in addition to keys. */
    providers: { id: string; name: string }[];
    /** Whether the sign-in page offers sign-in with a key. */
    by_key: boolean;
  };
}

/** A file of the build, uncompressed and compressed. */
interface BuiltFile {
  bytes: Buffer;
  br: Buffer | undefined;
  gzip: Buffer | undefined;
}

/** The built console. */
interface Build {
  /** Contains `__CSP_NONCE__`. */
  page: string;
  /** By path under `/console`. */
  files: Map<string, BuiltFile>;
}

const page = (title: string, head: string, body: string) => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
${head}<title>${title}</title>
</head>
<body>
${body}
</body>
</html>
`;

const NOT_BUILT = page(
  'Console: not built',
  '',
  '<h1>The console has not been built</h1>\n<p>The API works without it. On the server run <code>node scripts/build-console.ts</code>, which says what is wrong, ' +
    'and restart the API. The API is under <code>/v1</code>, its documentation at <a href="/docs">/docs</a>.</p>',
);

// Not a redirect, because this API does not use its status.
const TO_CONSOLE = page(
  'Prompt Management Service',
  '<meta http-equiv="refresh" content="0; url=/console">\n',
  '<p><a href="/console">Console</a> · <a href="/docs">API documentation</a> · <a href="/docs/guides">Guides</a></p>',
);

const ADDRESSES = {
  console: '/console',
  api: '/v1',
  documentation: '/docs',
  guides: '/docs/guides',
  openapi: '/openapi.json',
};

/** Reads all files of a build into memory: they are few, and only known names can be requested. */
function readBuild(folder: string): Build | undefined {
  const index = path.join(folder, 'index.html');
  if (!existsSync(index)) return undefined;
  const read = (name: string) => (existsSync(name) ? readFileSync(name) : undefined);
  const files = new Map<string, BuiltFile>();
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile() || /\.(br|gz|html)$/.test(entry.name)) continue;
    const file = path.join(entry.parentPath, entry.name);
    const name = `/${path.relative(folder, file).split(path.sep).join('/')}`;
    files.set(name, { bytes: readFileSync(file), br: read(`${file}.br`), gzip: read(`${file}.gz`) });
  }
  return { page: readFileSync(index, 'utf8'), files };
}

/** Whether a path could escape its folder. No page of the console has such a path. */
function leavesFolder(sent: string): boolean {
  try {
    return decodeURIComponent(sent)
      .split(/[/\\]/)
      .some((segment) => segment === '..' || segment === '.');
  } catch {
    return true;
  }
}

function sendFile(ctx: Context, name: string, { bytes, br, gzip }: BuiltFile): void {
  // The names of these files contain a hash of their content.
  ctx.set('Cache-Control', 'public, max-age=31536000, immutable');
  ctx.type = path.extname(name);
  ctx.vary('Accept-Encoding');
  const encoding = ctx.acceptsEncodings('br', 'gzip', 'identity');
  const compressed = encoding === 'br' ? br : encoding === 'gzip' ? gzip : undefined;
  if (compressed !== undefined && encoding) ctx.set('Content-Encoding', encoding);
  ctx.body = compressed ?? bytes;
}

function sendPage(ctx: Context, { page: html }: Build): void {
  const nonce = randomBytes(16).toString('base64');
  ctx.set('Content-Security-Policy', consolePolicy(nonce));
  ctx.type = 'text/html';
  ctx.body = html.replaceAll('__CSP_NONCE__', nonce);
}

/**
 * `/console` and below: the files of the built web console, and its page for every other path. `/` leads there.
 * @param folder of the build; if missing, a page says so
 */
export function consoleRoutes(folder: string, config: ConsoleConfig): Middleware {
  const build = readBuild(folder);
  return async (ctx, next) => {
    const isRoot = ctx.path === '/';
    if (!isRoot && !/^\/console(\/|$)/.test(ctx.path)) return next();
    requireGet(ctx);
    if (isRoot) {
      ctx.vary('Accept');
      if (ctx.accepts('json', 'html') === 'html') {
        ctx.type = 'text/html';
        ctx.body = TO_CONSOLE;
      } else ctx.body = ADDRESSES;
      return;
    }
    const name = ctx.path.slice('/console'.length);
    if (name === '/config.json') {
      ctx.body = config;
      return;
    }
    const file = build?.files.get(name);
    if (build === undefined) {
      ctx.status = 404;
      ctx.type = 'text/html';
      ctx.body = NOT_BUILT;
    } else if (file !== undefined) sendFile(ctx, name, file);
    else if (name.startsWith('/assets/') || leavesFolder(name))
      throw new ApiError('not_found', 'File not found. If the service was just updated, reload the page.');
    else sendPage(ctx, build);
  };
}
