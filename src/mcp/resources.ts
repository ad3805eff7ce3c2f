import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import type { ReadResourceResult, Resource, ResourceTemplateType } from '@modelcontextprotocol/server';
import { DECLARATIONS } from '../domain/capabilities.ts';
import { merge } from '../domain/capability.ts';
import { notFound } from '../domain/errors.ts';
import type { McpCall } from './mcp-call.ts';

/** The guides that help with using the tools, by file name. */
const GUIDES: Record<string, string> = {
  'how-to': 'Answers to “How do I …?”, each with a sample',
  troubleshooting: 'Error codes and messages, and what to do',
  ...merge(DECLARATIONS, 'guides'),
  importers: 'Moving here from other products',
  cli: 'The command line, also for CI',
  'api-contract': 'The HTTP API in all its details',
  mcp: 'This MCP server: tools, limits, errors',
};
const DOCS = 'docs://';
const PROMPT = 'prompt://';

export const RESOURCE_TEMPLATES: ResourceTemplateType[] = [
  {
    name: 'prompt-version',
    title: 'A version of a prompt',
    uriTemplate: `${PROMPT}{+name}{?version,label}`,
    description: 'A prompt as it is stored, as JSON. Without version and label: the latest version.',
    mimeType: 'application/json',
  },
];

/** The resources of the server. @param folder of the guides; missing ones are not listed */
export function createResources(folder: string) {
  const fileOf = (name: string) => path.join(folder, `${name}.md`);
  const resources: Resource[] = Object.entries(GUIDES)
    .filter(([name]) => existsSync(fileOf(name)))
    .map(([name, title]) => ({ uri: DOCS + name, name, title, mimeType: 'text/markdown' }));
  const known = new Set(resources.map(({ uri }) => uri));

  return {
    resources,
    /** @throws ApiError `not_found`, `invalid_request` and whatever reading a prompt throws */
    async read(uri: string, call: McpCall): Promise<ReadResourceResult> {
      if (known.has(uri)) {
        const text = await readFile(fileOf(uri.slice(DOCS.length)), 'utf8');
        return { contents: [{ uri, mimeType: 'text/markdown', text }] };
      }
      if (!uri.startsWith(PROMPT)) throw notFound(`The resource ${JSON.stringify(uri.slice(0, 200))}`);
      const [name = '', ...search] = uri.slice(PROMPT.length).split('?');
      const query = Object.fromEntries(new URLSearchParams(search.join('?')));
      const prompt = await call.run('getPrompt', { params: { name: decoded(name) }, query });
      return { contents: [{ uri, mimeType: 'application/json', text: JSON.stringify(prompt) }] };
    },
  };
}

export type Resources = ReturnType<typeof createResources>;

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
