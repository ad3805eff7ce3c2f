/** The option for moving a label that otherwise moves only by releases. */
export const OVERRIDE = [
  '--override <reason>',
  'as an admin: move a label although its release has steps that are not done',
] as const;

/** The same option in a request body. */
export const overrideOf = (reason: string | undefined) =>
  reason === undefined ? {} : ({ override: true, reason } as const);
