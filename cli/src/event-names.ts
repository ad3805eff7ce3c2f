import { InvalidArgumentError } from 'commander';
import { EVENT_TYPES } from 'pms-client';

export type EventName = (typeof EVENT_TYPES)[number];

/** @throws InvalidArgumentError */
export function eventName(text: string): EventName {
  const name = EVENT_TYPES.find((each) => each === text);
  if (name !== undefined) return name;
  throw new InvalidArgumentError(`"${text}" is not an event. Events: ${EVENT_TYPES.join(', ')}.`);
}

/** Comma-separated names. @throws InvalidArgumentError */
export const eventNames = (text: string): EventName[] => text.split(',').map((each) => eventName(each.trim()));
