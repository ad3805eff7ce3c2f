import { readFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { SCOPES } from '../../src/domain/scopes.ts';
import { connect } from '../api/mcp/mcp-support.ts';
import { createKey } from '../api/workspace.ts';
import { PROJECT } from '../support/processes.ts';
import { startTestService, type TestService } from '../support/service.ts';

const page = readFileSync(path.join(PROJECT, 'docs/mcp.md'), 'utf8');
let service: TestService;
beforeAll(async () => {
  service = await startTestService({}, { workers: false });
});
afterAll(() => service?.stop());

test('the guide has each tool, with its scope and purpose', async () => {
  const scopes = new Map<string, string[]>();
  for (const scope of SCOPES) {
    if (scope === 'admin') continue;
    const mcp = await connect({ ...service, ...(await createKey(service, scope)) });
    for (const { name } of (await mcp.client.listTools()).tools)
      scopes.set(name, [...(scopes.get(name) ?? []), `\`${scope}\``]);
    await mcp.close();
  }
  // Others need `read`, too.
  const also = new Map<string, string[]>();
  for (const scope of SCOPES) {
    if (scope === 'admin' || scope === 'read') continue;
    const mcp = await connect({ ...service, ...(await createKey(service, scope, 'read')) });
    for (const { name } of (await mcp.client.listTools()).tools)
      if (!scopes.has(name)) also.set(name, [...(also.get(name) ?? []), `\`${scope}\``]);
    await mcp.close();
  }
  for (const [name, first] of also)
    scopes.set(name, [`${first.join(' or ')}${first.length > 1 ? ', and' : ' and'} \`read\``]);
  const mcp = await connect(service);
  const { tools } = await mcp.client.listTools();
  await mcp.close();
  const rows = tools.map(({ name, title, annotations: hints }) => {
    const kinds = hints?.readOnlyHint
      ? ['reads']
      : [
          hints?.destructiveHint ? 'replaces' : 'adds',
          ...(hints?.idempotentHint ? ['repeatable'] : []),
          ...(hints?.openWorldHint ? ['calls models'] : []),
        ];
    return `| \`${name}\` | ${title} | ${scopes.get(name)?.join(' or ')} | ${kinds.join(', ')} |`;
  });
  expect(page.match(/^\| `\w+` \|.*\|$/gm)).toEqual(rows);
});

test('the guide has each resource', async () => {
  const mcp = await connect(service);
  const { resources } = await mcp.client.listResources();
  await mcp.close();
  for (const { uri } of resources) expect(page).toContain(`\`${uri}\``);
});
