import { InvalidArgumentError } from 'commander';
import type { Api } from 'pms-client';

export type EventName = Api.Event['event'];

/** An object, so that the compiler finds one that is missing. */
const EVENTS: Record<EventName, true> = {
  'prompt.created': true,
  'prompt.updated': true,
  'execution.completed': true,
  'execution.failed': true,
  'evaluation.completed': true,
  'evaluation.regression': true,
  'release.started': true,
  'release.awaiting_approval': true,
  'release.promoted': true,
  'release.rolled_back': true,
  'release.finished': true,
  'monitor.alerted': true,
  'monitor.recovered': true,
};

const isEventName = (text: string): text is EventName => Object.hasOwn(EVENTS, text);

/** @throws InvalidArgumentError */
export function eventName(text: string): EventName {
  if (isEventName(text)) return text;
  throw new InvalidArgumentError(`"${text}" is not an event. Events: ${Object.keys(EVENTS).join(', ')}.`);
}

/** Names that are joined by commas. @throws InvalidArgumentError */
export const eventNames = (text: string): EventName[] => text.split(',').map((each) => eventName(each.trim()));
