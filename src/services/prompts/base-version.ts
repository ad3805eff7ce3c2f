import { ApiError, invalidField } from '../../domain/errors.ts';

/**
 * Checks the version that a change is based on. Call it with the prompt's row locked, so that no other change can come in between.
 * @param base that version; 0: the prompt did not exist; undefined: any
 * @param newest the version before the one being created; 0: there is none
 * @throws ApiError `version_conflict` if there is a newer one, `invalid_request` if there is no such version yet
 */
export function requireBase(name: string, base: number | undefined, newest: number): void {
  if (base === undefined || base === newest) return;
  if (base === 0)
    throw new ApiError(
      'version_conflict',
      `The prompt "${name}" already exists at version ${newest}. Choose another name, or send "base_version": ${newest} to create its next version.`,
    );
  if (base < newest)
    throw new ApiError(
      'version_conflict',
      `The prompt "${name}" is now at version ${newest}, but this change is based on version ${base}. ` +
        `Review the changes with GET /v1/prompts/${name}/diff?from=${base}&to=${newest}, and resend yours with "base_version": ${newest}.`,
    );
  throw invalidField(
    'base_version',
    newest === 0 ? `is ${base}, but the prompt does not exist yet` : `is ${base}, but the newest version is ${newest}`,
  );
}
