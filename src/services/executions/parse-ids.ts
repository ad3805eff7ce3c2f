import { invalidField } from '../../domain/errors.ts';
import { parsePublicId } from '../../domain/ids.ts';

/** UUIDs of executions, each once. @throws ApiError `invalid_request` @param at path of the list in the request */
export function parseExecutionIds(ids: readonly string[], at: string): string[] {
  const parsed = ids.map((id, index) => {
    const uuid = parsePublicId('execution', id);
    if (uuid === undefined) throw invalidField(`${at}.${index}`, 'is not the id of an execution');
    return uuid;
  });
  return [...new Set(parsed)];
}
