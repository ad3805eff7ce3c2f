import type { z } from 'zod';
import type * as schedules from '../../../../src/api/schedules/schema.ts';

export type Schedule = z.output<typeof schedules.Schedule>;
export type CreateSchedule = z.input<typeof schedules.CreateSchedule>;
