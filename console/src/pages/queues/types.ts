import type { z } from 'zod';
import type * as queues from '../../../../src/api/queues/schema.ts';
import type * as measure from '../../../../src/api/scores/measure.ts';

export type Queue = z.output<typeof queues.Queue>;
type Item = z.output<typeof queues.QueueItem>;
/** `other`: of a pair, the output that is compared with the one of `subject`. */
export type QueueItem = Item & { other?: Item['subject'] | undefined };
export type PutQueue = z.input<typeof queues.PutQueue>;
export type CompleteItem = z.input<typeof queues.CompleteItem>;
export type QueueAgreement = z.output<typeof queues.QueueAgreement>;
export type Measure = z.output<typeof measure.Measure>;
