import type { z } from 'zod';
import type * as rules from '../../../../src/api/rules/schema.ts';

export type Rule = z.output<typeof rules.Rule>;
export type PutRule = z.input<typeof rules.PutRule>;
export type Backfill = z.output<typeof rules.Backfill>;
