import type { QueryClient } from '@tanstack/react-query';
import { ApiError, pathOf, post, put } from '../../api.ts';
import type { CreatePrompt, Prompt, UpdatePrompt } from '../../api-types.ts';
import { promptQuery, replaceData } from '../../queries.ts';

const isConflict = (error: unknown) => error instanceof ApiError && error.code === 'version_conflict';

/**
 * Creates the next version of a prompt, unless someone else has created one in the meantime.
 * @param known the newest version that the user has seen
 * @returns the new version, or that of someone else
 */
export async function saveVersion(
  client: QueryClient,
  name: string,
  change: UpdatePrompt,
  known: number,
): Promise<{ saved: Prompt } | { newer: Prompt }> {
  try {
    const saved = await put<Prompt>(pathOf('prompts', name), { ...change, base_version: known });
    replaceData(client, promptQuery(name).queryKey, saved);
    return { saved };
  } catch (error) {
    if (!isConflict(error)) throw error;
    return { newer: await client.fetchQuery({ ...promptQuery(name), staleTime: 0 }) };
  }
}

/** Creates a prompt with an unused name. */
export async function createPrompt(body: CreatePrompt): Promise<Prompt> {
  try {
    return await post<Prompt>('/prompts', { ...body, base_version: 0 });
  } catch (error) {
    if (!isConflict(error)) throw error;
    throw new Error(`There is a prompt “${body.name}” already: choose another name, or open it to change it.`);
  }
}
