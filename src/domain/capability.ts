import type { z } from 'zod';
import type { IdKind } from './ids.ts';

/** A type of event that webhooks can subscribe to. */
export interface EventDeclaration<Data extends z.ZodType = z.ZodType> {
  /** The schema of `data` in the body of a delivery. */
  data: Data;
  /** For test deliveries and the documentation. */
  sample: z.infer<Data>;
  /** Whether a webhook that names no events gets it. */
  byDefault: boolean;
}

/** An event with a sample of its data. @param byDefault whether a webhook that names no events gets it */
export const event = <Data extends z.ZodType>(data: Data, sample: z.infer<Data>, byDefault = false) =>
  ({ data, sample, byDefault }) satisfies EventDeclaration<Data>;

/** A limit on what a workspace can have, which operators change. */
export interface QuotaDeclaration {
  /** The environment variable. */
  setting: `QUOTA_${string}`;
  default: number;
  /** Whether the setting takes sizes such as `10GB`. */
  inBytes?: true;
  /** What a workspace can have so many of. */
  what: string;
  /** What a caller can do about it. */
  remedy: string;
  /** The table whose rows are counted. Without it, `services/workspaces/quota-list.ts` says how to count. */
  rows?: string;
}

export const DELETE_ONE = 'Delete one that is no longer needed';

/** How long something is kept, which operators change. */
export interface RetentionDeclaration {
  /** The environment variable. */
  setting: `${string}_RETENTION`;
  /** In ms. Default: it is kept. */
  default?: number;
  /** In ms: what an `Idempotency-Key` has created is there as long as the key is remembered. */
  atLeast?: number;
}

/** What the e-mail about a notification is written from. */
export interface NotificationFacts {
  type: string;
  /** A public id; null: the webhook is gone, or it concerns none. */
  webhookId: string | null;
  webhookUrl: string | null;
  monitor: string | null;
}

/** An e-mail about a notification, below the lines that all of them have. */
export type NotificationMail = (facts: NotificationFacts) => { subject: string; text: string };

/**
 * What a capability is, as far as all layers have to know it. One file in `domain/capabilities` for each; the registers of
 * audit actions, events, quotas, settings, notifications, tags and guides are derived from them. What a capability does
 * (routes, recurring tasks, deletion) is in `src/capabilities`.
 */
export interface Declaration {
  name: string;
  /** Folders of `src/api` and `src/services` that are its own, besides the one that has its name. */
  folders?: readonly string[];
  /** Sections of the API document, and what their operations are about. */
  tags?: Record<string, string>;
  /** Kinds of its public ids (`domain/ids.ts` has their prefixes). */
  ids?: readonly IdKind[];
  /** Actions in the audit log, and what each is done to. */
  audit?: Record<`${string}.${string}`, string>;
  /** Actions that are recorded although the audit log is full: they end what can't be made again as long as it is. */
  auditedWhenFull?: readonly string[];
  events?: Record<`${string}.${string}`, EventDeclaration>;
  quotas?: Record<string, QuotaDeclaration>;
  retention?: Record<string, RetentionDeclaration>;
  /** What owners of workspaces are notified of. */
  notifications?: Record<`${string}.${string}`, NotificationMail>;
  /** Guides that the MCP server shows: files in `docs`, without their ending, and their titles. */
  guides?: Record<string, string>;
}

type UnionToIntersection<Union> = (Union extends unknown ? (member: Union) => void : never) extends (
  all: infer Intersection,
) => void
  ? Intersection
  : never;

type FieldOf<Each, Field extends keyof Declaration> = Each extends Record<Field, infer Value> ? Value : never;

/** One register out of the same field of all declarations. */
export type Merged<Declarations extends readonly Declaration[], Field extends keyof Declaration> = UnionToIntersection<
  FieldOf<Declarations[number], Field>
>;

/** @throws Error where two declare the same */
export function merge<const Declarations extends readonly Declaration[], const Field extends keyof Declaration>(
  declarations: Declarations,
  field: Field,
): Merged<Declarations, Field> {
  const entries = declarations.flatMap((each) => Object.entries(each[field] ?? {}));
  const merged = Object.fromEntries(entries);
  if (Object.keys(merged).length < entries.length) throw new Error(`Two capabilities declare the same ${field}.`);
  return merged as Merged<Declarations, Field>;
}
