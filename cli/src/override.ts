/** An option that moves a label that moves only by releases. */
export const OVERRIDE = [
  '--override <reason>',
  'as an admin: move a label although its release has steps that are not done',
] as const;

/** The same in the body of a request. */
export const overrideOf = (reason: string | undefined) =>
  reason === undefined ? {} : ({ override: true, reason } as const);
