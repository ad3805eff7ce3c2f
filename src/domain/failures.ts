import { z } from 'zod';

/** The maximum number of causes returned. */
export const MAX_FAILURE_CAUSES = 10;

/** Why several calls failed, the most frequent cause first. */
export const FailureCauses = z.array(
  z.object({
    code: z.string(),
    message: z.string().meta({ description: 'The message of one of these failures.' }),
    count: z.int(),
  }),
);
export type FailureCauses = z.output<typeof FailureCauses>;
