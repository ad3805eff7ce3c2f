import type { z } from 'zod';
import type { IdKind } from './ids.ts';

/** A type of event that webhooks can subscribe to. */
export interface EventDeclaration<Data extends z.ZodType = z.ZodType> {
  /** The schema of `data` in the body of a delivery. */
  data: Data;
  /** For test deliveries and the documentation. */
  sample: z.infer<Data>;
  /** Whether webhooks without a list of events get it. */
  byDefault: boolean;
}

/** An event with a sample of its data. @param byDefault whether webhooks without a list of events get it */
export const event = <Data extends z.ZodType>(data: Data, sample: z.infer<Data>, byDefault = false) =>
  ({ data, sample, byDefault }) satisfies EventDeclaration<Data>;

/** A limit on the resources of a workspace, which operators can change. */
export interface QuotaDeclaration {
  /** The environment variable. */
  setting: `QUOTA_${string}`;
  default: number;
  /** Whether the setting takes sizes such as `10GB`. */
  inBytes?: true;
  /** The limited resource, in words. */
  what: string;
  /** What a caller can do about it. */
  remedy: string;
  /** The table whose rows are counted. Without it, `services/workspaces/quota-list.ts` defines the count. */
  rows?: string;
}

export const DELETE_ONE = 'Delete some that are no longer needed';

/** How long something is kept, which operators can change. */
export interface RetentionDeclaration {
  /** The environment variable. */
  setting: `${string}_RETENTION`;
  /** In ms. Default: kept forever. */
  default?: number;
  /** In ms: a resource created with an `Idempotency-Key` must exist as long as the key is remembered. */
  atLeast?: number;
}

/** The facts for the e-mail about a notification. */
export interface NotificationFacts {
  type: string;
  /** A public id; null if the webhook is gone, or the notification is not about one. */
  webhookId: string | null;
  webhookUrl: string | null;
  monitor: string | null;
}

/** An e-mail about a notification, below the lines common to all e-mails. */
export type NotificationMail = (facts: NotificationFacts) => { subject: string; text: string };

/**
 * The description of a capability, as far as all layers need it. Each has a file in `domain/capabilities`; the registers of audit
 * actions, events, quotas, settings, notifications, tags and guides are derived from them. Its behavior (routes, recurring tasks,
 * deletion) is in `src/capabilities`.
 */
export interface Declaration {
  name: string;
  /** Further folders of `src/api` and `src/services` that belong to it, in addition to the one with its name. */
  folders?: readonly string[];
  /** Sections of the API document, and what their operations are about. */
  tags?: Record<string, string>;
  /** Kinds of its public ids (`domain/ids.ts` has their prefixes). */
  ids?: readonly IdKind[];
  /** Actions in the audit log, each with the type of its resource. */
  audit?: Record<`${string}.${string}`, string>;
  /** Actions that are recorded even if the audit log is full: they end resources that can't be created while it is full. */
  auditedWhenFull?: readonly string[];
  events?: Record<`${string}.${string}`, EventDeclaration>;
  quotas?: Record<string, QuotaDeclaration>;
  retention?: Record<string, RetentionDeclaration>;
  /** The notifications to owners of workspaces. */
  notifications?: Record<`${string}.${string}`, NotificationMail>;
  /** Guides that the MCP server shows: file names in `docs` without extension, and their titles. */
  guides?: Record<string, string>;
}

type UnionToIntersection<Union> = (Union extends unknown ? (member: Union) => void : never) extends (
  all: infer Intersection,
) => void
  ? Intersection
  : never;

type FieldOf<Each, Field extends keyof Declaration> = Each extends Record<Field, infer Value> ? Value : never;

/** One register from the same field of all declarations. */
export type Merged<Declarations extends readonly Declaration[], Field extends keyof Declaration> = UnionToIntersection<
  FieldOf<Declarations[number], Field>
>;

/** @throws Error if two declare the same name */
export function merge<const Declarations extends readonly Declaration[], const Field extends keyof Declaration>(
  declarations: Declarations,
  field: Field,
): Merged<Declarations, Field> {
  const entries = declarations.flatMap((each) => Object.entries(each[field] ?? {}));
  const merged = Object.fromEntries(entries);
  if (Object.keys(merged).length < entries.length) throw new Error(`Two capabilities declare the same ${field}.`);
  return merged as Merged<Declarations, Field>;
}
