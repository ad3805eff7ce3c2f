import { InvalidArgumentError } from 'commander';

/** For options that may be repeated. */
export const collect = (value: string, before: string[]): string[] => [...before, value];

/** @throws InvalidArgumentError */
export function wholeNumber(text: string): number {
  if (!/^\d{1,9}$/.test(text)) throw new InvalidArgumentError('It must be a whole number.');
  return Number(text);
}

/** @throws InvalidArgumentError */
export function decimal(text: string): number {
  if (!/^\d{1,9}(\.\d{1,9})?$/.test(text)) throw new InvalidArgumentError('It must be a number such as 0.8.');
  return Number(text);
}
