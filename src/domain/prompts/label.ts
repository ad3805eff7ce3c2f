import { z } from 'zod';

export const MAX_LABEL_LENGTH = 64;

/** A label of a prompt version. */
export const Label = z
  .string()
  .regex(/^[A-Za-z0-9._-]{1,64}$/, 'must be 1–64 letters, digits, ".", "_" or "-"')
  .meta({
    description: 'A label such as `production`; `latest` always means the newest version.',
    example: 'production',
  });

/** A label that can be moved. */
export const MovableLabel = Label.refine(
  (label) => label !== 'latest',
  'must not be "latest": it always means the newest version',
);
