import { DECLARATIONS } from './capabilities.ts';
import { merge } from './capability.ts';

/** The notifications to owners of workspaces, with the content of each e-mail. */
export const NOTIFICATION_MAILS = merge(DECLARATIONS, 'notifications');

export type NotificationType = keyof typeof NOTIFICATION_MAILS;

const subjectOf = (type: string) => type.split('.', 1)[0] ?? type;

/** Sorted by subject in reverse alphabetical order, as in the API document. */
export const NOTIFICATION_TYPES = (Object.keys(NOTIFICATION_MAILS) as NotificationType[]).sort((one, other) =>
  subjectOf(other).localeCompare(subjectOf(one)),
);
