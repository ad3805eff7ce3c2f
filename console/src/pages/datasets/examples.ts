import { queryOptions } from '@tanstack/react-query';
import type { z } from 'zod';
import type { DatasetChange, ExampleRecord } from '../../../../src/api/datasets/schema.ts';
import { ApiError, call, get, isSignedOut, NetworkError, type Page, pathOf, post, send } from '../../api.ts';
import type { Dataset } from '../../api-types.ts';
import { reportConnection } from '../../connection.ts';
import { untilSignedIn } from '../../session-ended.ts';
import { t } from '../../strings.ts';

export type Example = z.output<typeof ExampleRecord>;
export type ExampleInput = Omit<Example, 'seq' | 'key'>;
/** User input: the service validates it. */
interface TypedExample {
  id?: string | undefined;
  variables: unknown;
  expected?: unknown;
  metadata?: unknown;
}

export const PAGE = 1_000;
/**
 * Above this size examples are not edited here, and versions are not compared, because all examples pass through the browser.
 */
export const MAX_EXAMPLES = 20_000;

export const datasetQuery = (name: string, version?: number) =>
  queryOptions({
    queryKey: ['datasets', 'one', name, version ?? 'latest'],
    queryFn: ({ signal }) => get<Dataset>(pathOf('datasets', name), { version }, signal),
  });

/** Every example of a version, in order. */
export const allExamplesQuery = (name: string, version: number) =>
  queryOptions({
    queryKey: ['datasets', 'all', name, version],
    async queryFn({ signal }) {
      const examples: Example[] = [];
      for (let cursor: string | null = ''; cursor !== null; ) {
        const page: Page<Example> = await get(
          `${pathOf('datasets', name)}/examples`,
          { version, limit: PAGE, cursor },
          signal,
        );
        examples.push(...page.data);
        cursor = page.next_cursor;
      }
      return examples;
    },
    // A version never changes.
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 60_000,
  });

/** An example in file format. */
export function withoutPosition(example: Example): ExampleInput {
  const { seq: _seq, key: _key, ...input } = example;
  return input;
}

/**
 * Adds an example to a dataset, creating the dataset if necessary. The service does this, so that concurrent additions are not
 * lost.
 */
export const addExample = (name: string, example: TypedExample) =>
  post<z.output<typeof DatasetChange>>(`${pathOf('datasets', name)}/examples`, { examples: [example] });

/**
 * Creates the next version of a dataset with one line changed or removed.
 * @param change receives the lines of the version's JSON Lines
 * @throws Error if there is a version newer than `version`, ApiError if the API rejects the line
 */
export async function changeExamples(
  { name, version, examples_total }: Dataset,
  change: (lines: string[]) => string[],
): Promise<Dataset> {
  if (examples_total > MAX_EXAMPLES)
    throw new Error(`This dataset has more than ${MAX_EXAMPLES} examples: upload a new version of it instead.`);
  const path = pathOf('datasets', name);
  const response = await send('GET', `${path}/export`, { query: { version }, headers: { Accept: '*/*' } });
  const lines = (await response.text()).split('\n').filter((line) => line !== '');
  const latest = await get<Dataset>(path);
  if (latest.version !== version)
    throw new Error(`Version ${latest.version} was created in the meantime: reload the page and change that one.`);
  return call<Dataset>('PUT', path, {
    raw: `${change(lines).join('\n')}\n`,
    headers: { 'Content-Type': 'application/x-ndjson' },
  });
}

/** The media type of a file by its name. Undefined if it is neither JSON Lines nor CSV. */
export function mediaTypeOf(file: string): string | undefined {
  if (/\.(csv|tsv)$/i.test(file)) return 'text/csv';
  return /\.(jsonl|ndjson|jsonlines)$/i.test(file) ? 'application/x-ndjson' : undefined;
}

interface Upload {
  name: string;
  description: string;
  mode: 'add' | 'replace';
  file: Blob;
  type: string;
}

/**
 * Uploads a file as the next version of a dataset. Uses XMLHttpRequest because `fetch` does not report upload progress.
 * @param onProgress receives the share that was sent, 0 to 1
 * @throws ApiError, NetworkError
 */
export async function uploadDataset(upload: Upload, onProgress: (share: number) => void): Promise<Dataset> {
  try {
    return await sendUpload(upload, onProgress);
  } catch (error) {
    if (!isSignedOut(error)) throw error;
    await untilSignedIn();
    return uploadDataset(upload, onProgress);
  }
}

function sendUpload(
  { name, description, mode, file, type }: Upload,
  onProgress: (share: number) => void,
): Promise<Dataset> {
  const { promise, resolve, reject } = Promise.withResolvers<Dataset>();
  const request = new XMLHttpRequest();
  const query = new URLSearchParams({ mode, ...(description !== '' && { description }) });
  request.open('PUT', `/v1${pathOf('datasets', name)}?${query}`);
  request.responseType = 'json';
  request.setRequestHeader('X-Console', '1');
  request.setRequestHeader('Content-Type', type);
  request.upload.addEventListener('progress', ({ loaded, total }) => onProgress(total === 0 ? 0 : loaded / total));
  request.addEventListener('error', () => {
    reportConnection('lost');
    reject(new NetworkError(undefined));
  });
  request.addEventListener('load', () => {
    if (request.status < 300) return resolve(request.response);
    const error: Partial<ApiError> = request.response?.error ?? {};
    const message =
      error.message ??
      t(`The service responded with status ${request.status}. Try again; if it happens again, ask your administrator.`);
    reject(new ApiError(request.status, error.code ?? 'unknown', message, error.details));
  });
  request.send(file);
  return promise;
}
