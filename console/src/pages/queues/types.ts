import type { z } from 'zod';
import type * as queues from '../../../../src/api/queues/schema.ts';

export type Queue = z.output<typeof queues.Queue>;
export type QueueItem = z.output<typeof queues.QueueItem>;
export type PutQueue = z.input<typeof queues.PutQueue>;
export type CompleteItem = z.input<typeof queues.CompleteItem>;
export type QueueAgreement = z.output<typeof queues.QueueAgreement>;
export type Measure = z.output<typeof queues.Measure>;
