import type { Api, Pms } from 'pms-client';
import { formatPromptFile, type PromptFile } from '../prompt-file.ts';
import { type PromptVersion, type VersionRecord, versionOf } from '../prompt-version.ts';

const MAX_RESOLVED = 200;

/** The latest versions of prompts by name, without those that do not exist. @throws PmsError */
export async function latestOf(pms: Pms, names: string[]): Promise<Map<string, Api.Prompt>> {
  const found = new Map<string, Api.Prompt>();
  for (let left = [...names]; left.length > 0; ) {
    const asked = left.splice(0, MAX_RESOLVED);
    const { data } = await pms.call('resolvePrompts', { body: { prompts: asked.map((name) => ({ name })) } });
    const missed: string[] = [];
    for (const { name, prompt, left_out: isLeftOut, error } of data) {
      if (prompt !== undefined) found.set(name, prompt);
      else if (isLeftOut) left.push(name);
      // It exists, but something that it includes does not.
      else if (error?.code === 'invalid_request') missed.push(name);
    }
    for (const name of missed) found.set(name, await pms.call('getPrompt', { path: { name } }));
  }
  return found;
}

/** The content of a version from the service. */
export function versionOfRecord(record: Api.Prompt): PromptVersion {
  // The API document types arbitrary JSON as unknown.
  return versionOf(record as VersionRecord);
}

/** Converts a version from the service to the content of a file. */
export function toPromptFile(record: Api.Prompt): PromptFile {
  const { name, version, description } = record;
  return { name, version, ...(description !== null && { description }), ...versionOfRecord(record) };
}

/** The same as text. */
export const formatRecord = (record: Api.Prompt): string => formatPromptFile(toPromptFile(record));
