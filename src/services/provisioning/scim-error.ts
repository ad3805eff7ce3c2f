/** An error as defined by RFC 7644 (section 3.12). The detail is for administrators of the identity provider. */
export class ScimError extends Error {
  readonly status: 400 | 401 | 404 | 409 | 413 | 429 | 500 | 503;
  readonly scimType: string | undefined;

  constructor(status: ScimError['status'], scimType: string | undefined, detail: string, cause?: unknown) {
    super(detail, { cause });
    this.name = 'ScimError';
    this.status = status;
    this.scimType = scimType;
  }
}

export const invalidValue = (detail: string) => new ScimError(400, 'invalidValue', detail);
export const notThere = (kind: 'User' | 'Group', id: string) =>
  new ScimError(404, undefined, `There is no ${kind} ${id}.`);
export const taken = (detail: string, cause?: unknown) => new ScimError(409, 'uniqueness', detail, cause);
