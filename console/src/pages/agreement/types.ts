import type { z } from 'zod';
import type * as agreement from '../../../../src/api/agreement/schema.ts';

export type EvaluatorAgreement = z.output<typeof agreement.Agreement>;
