import { ApiError, invalidField } from '../../domain/errors.ts';

/**
 * Judges a change by the version that it was made from. Call it with the prompt's row locked: then no other change comes between.
 * @param base that version; 0: the prompt was not there; undefined: any will do
 * @param newest the version before the one that is being made; 0: there is none
 * @throws ApiError `version_conflict` where there is a newer one, `invalid_request` where there is no such version yet
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
