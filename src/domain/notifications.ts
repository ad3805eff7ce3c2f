import { DECLARATIONS } from './capabilities.ts';
import { merge } from './capability.ts';

/** What owners of workspaces are notified of, and what the e-mail about each says. */
export const NOTIFICATION_MAILS = merge(DECLARATIONS, 'notifications');

export type NotificationType = keyof typeof NOTIFICATION_MAILS;

const subjectOf = (type: string) => type.split('.', 1)[0] ?? type;

/** By subject, from the last in the alphabet: the order in which the API document has them. */
export const NOTIFICATION_TYPES = (Object.keys(NOTIFICATION_MAILS) as NotificationType[]).sort((one, other) =>
  subjectOf(other).localeCompare(subjectOf(one)),
);
