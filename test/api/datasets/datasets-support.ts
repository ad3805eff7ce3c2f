import http from 'node:http';
import type { Answer, TestService } from '../../support/service.ts';

/** Uploads a text, bytes or a stream; the default `type` is JSON Lines. */
export function upload(
  service: TestService,
  name: string,
  raw: string | Uint8Array<ArrayBuffer>,
  { type = 'application/x-ndjson', key = service.key }: { type?: string; key?: string } = {},
): Promise<Answer> {
  return service.call('PUT', `/datasets/${name}`, { raw, headers: { 'Content-Type': type }, key });
}

/** Downloads an export as text. */
export async function download(
  service: TestService,
  path: string,
): Promise<{ status: number; headers: Headers; text: string }> {
  const response = await fetch(`${service.origin}/v1/datasets/${path}`, {
    headers: { Authorization: `Bearer ${service.key}` },
  });
  return { status: response.status, headers: response.headers, text: await response.text() };
}

/** One object a line. */
export function jsonLines(values: unknown[]): string {
  return values.map((value) => `${JSON.stringify(value)}\n`).join('');
}

/** Opens an upload manually, to send what `fetch` would not. The response is available as soon as it arrives. */
export function openUpload(
  service: TestService,
  path: string,
  headers: Record<string, string> = {},
): { request: http.ClientRequest; answer: Promise<{ status: number; body: string }> } {
  const request = http.request(`${service.origin}/v1/datasets/${path}`, {
    method: 'PUT',
    headers: { Authorization: `Bearer ${service.key}`, 'Content-Type': 'application/x-ndjson', ...headers },
  });
  const answer = new Promise<{ status: number; body: string }>((resolve, reject) => {
    request.on('error', reject);
    request.on('response', (response) => {
      let body = '';
      response.setEncoding('utf8');
      response.on('data', (text: string) => {
        body += text;
      });
      response.on('end', () => resolve({ status: response.statusCode ?? 0, body }));
    });
  });
  return { request, answer };
}

/** How many rows the datasets' tables hold of the workspace. */
export async function countRows(
  service: TestService,
): Promise<{ datasets: number; versions: number; examples: number }> {
  const [row] = await service.dependencies.db.system.query<{ datasets: number; versions: number; examples: number }>(
    {
      text: `select (select count(*)::int from datasets where workspace_id = $1) as datasets,
               (select count(*)::int from dataset_versions where workspace_id = $1) as versions,
               (select count(*)::int from dataset_examples e join dataset_versions v on v.id = e.dataset_version_id
                where v.workspace_id = $1) as examples`,
    },
    [service.workspaceId],
  );
  if (!row) throw new Error('A select without from gives a row.');
  return row;
}
