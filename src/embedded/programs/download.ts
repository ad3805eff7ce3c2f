import { createWriteStream } from 'node:fs';
import path from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { EnvHttpProxyAgent, fetch, type Response } from 'undici';
import { z } from 'zod';
import { messageOf } from '../errors.ts';
import { run } from './programs.ts';

/** Temporal's own download service: https://docs.temporal.io/cli */
export const TEMPORAL_DOWNLOADS = 'https://temporal.download';

// Short, so that a blocked network costs seconds and not minutes.
const CONNECT_TIMEOUT_MS = 10_000;
const STALL_TIMEOUT_MS = 30_000;

/** The names that the download service and Go use for this platform. */
export function goPlatform(): { platform: string; arch: string } {
  const arch = process.arch === 'x64' ? 'amd64' : process.arch;
  return { platform: process.platform, arch };
}

const archiveSchema = z.object({ archiveUrl: z.url(), fileToExtract: z.string() });

/** Asks the service at `url` for the location of an archive and the file to extract. @throws with a short reason. */
export async function locateArchive(url: string): Promise<z.infer<typeof archiveSchema>> {
  return withResponse(url, async (response) => archiveSchema.parse(await response.json()));
}

/** Downloads the .tar.gz at `url` and extracts `file` from it into `folder`. @throws with a short reason. */
export async function unpackArchive(url: string, file: string, folder: string): Promise<string> {
  const archive = path.join(folder, 'archive.tar.gz');
  await withResponse(url, async (response) => {
    if (!response.body) throw new Error(`${new URL(url).host} sent nothing`);
    await pipeline(Readable.fromWeb(response.body), createWriteStream(archive));
  });
  const { code, output } = await run('tar', ['-xzf', archive, '-C', folder, file]);
  if (code !== 0) throw new Error(`the archive could not be unpacked (${output.slice(-200)})`);
  return path.join(folder, file);
}

async function withResponse<T>(url: string, use: (response: Response) => Promise<T>): Promise<T> {
  // Honours HTTPS_PROXY and NO_PROXY.
  const dispatcher = new EnvHttpProxyAgent({
    connect: { timeout: CONNECT_TIMEOUT_MS },
    headersTimeout: STALL_TIMEOUT_MS,
    bodyTimeout: STALL_TIMEOUT_MS,
  });
  const { host } = new URL(url);
  try {
    const response = await fetch(url, { dispatcher });
    if (!response.ok) throw new Error(`${host} responded with ${response.status}`);
    return await use(response);
  } catch (error) {
    // fetch reports only "fetch failed"; the reason is in the cause.
    const cause = typeof error === 'object' && error !== null && 'cause' in error ? error.cause : undefined;
    const reason = messageOf(cause ?? error);
    throw new Error(reason.includes(host) ? reason : `${host} cannot be reached (${reason})`, { cause: error });
  } finally {
    await dispatcher.destroy();
  }
}
