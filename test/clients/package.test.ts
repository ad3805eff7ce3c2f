import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, test } from '@jest/globals';
import { buildClient, compressedBytes, readBuilt } from '../../scripts/build-client.ts';

const MAX_COMPRESSED_BYTES = 22_500;
/** The requests to providers, with the rules that only they need: loaded only if imported. */
const MAX_REQUESTS_BYTES = 14_500;

test('the built client is small, and imports only an event parser', async () => {
  const folder = await mkdtemp(path.join(tmpdir(), 'pms-client-'));
  try {
    await buildClient(folder, ['--removeComments']);
    const all = await readBuilt(folder);
    expect(compressedBytes(all)).toBeLessThan(MAX_COMPRESSED_BYTES);
    const imported = new Set([...all.matchAll(/ from ["']([^"'.][^"']*)["']/g)].map(([, name]) => name));
    expect([...imported]).toEqual(['eventsource-parser']);
    expect(all).not.toContain('/requests/');
    expect([...all.matchAll(/'[^']*\/evaluate\/[^']*'/g)].map(([name]) => name)).toEqual(["'./evaluate/evaluate.js'"]);
    expect(all).toContain("await import('./evaluate/evaluate.js')");
    const requests = await readBuilt(folder, 'requests');
    expect(requests).toContain('toOpenAI');
    expect(compressedBytes(requests)).toBeLessThan(MAX_REQUESTS_BYTES);
    expect(requests).not.toMatch(/ from ["'][^"'.]/);
  } finally {
    await rm(folder, { recursive: true });
  }
});
