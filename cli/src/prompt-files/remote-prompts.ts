import type { Api, Pms } from 'pms-client';
import { formatPromptFile, type PromptFile } from '../prompt-file.ts';
import { type PromptVersion, type VersionRecord, versionOf } from '../prompt-version.ts';

const MAX_RESOLVED = 200;

/** The latest versions of prompts, by name; those that are not there are missing. @throws PmsError */
export async function latestOf(pms: Pms, names: string[]): Promise<Map<string, Api.Prompt>> {
  const found = new Map<string, Api.Prompt>();
  for (let left = [...names]; left.length > 0; ) {
    const asked = left.splice(0, MAX_RESOLVED);
    const { data } = await pms.call('resolvePrompts', { body: { prompts: asked.map((name) => ({ name })) } });
    const missed: string[] = [];
    for (const { name, prompt, left_out: isLeftOut, error } of data) {
      if (prompt !== undefined) found.set(name, prompt);
      else if (isLeftOut) left.push(name);
      // It is there, but what it includes is not.
      else if (error?.code === 'invalid_request') missed.push(name);
    }
    for (const name of missed) found.set(name, await pms.call('getPrompt', { path: { name } }));
  }
  return found;
}

/** What a version of the service says. */
export function versionOfRecord(record: Api.Prompt): PromptVersion {
  // The document calls any JSON unknown.
  return versionOf(record as VersionRecord);
}

/** A version of the service as a file says it. */
export function toPromptFile(record: Api.Prompt): PromptFile {
  const { name, version, description } = record;
  return { name, version, ...(description !== null && { description }), ...versionOfRecord(record) };
}

/** The same as text. */
export const formatRecord = (record: Api.Prompt): string => formatPromptFile(toPromptFile(record));
