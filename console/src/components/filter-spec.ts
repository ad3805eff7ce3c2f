import { formatTime } from '../format.ts';

/** A filter of a list as it is typed: `status:failed`, `cost>=0.01`. */
export interface FilterSpec {
  /** Its name on chips and in counts. */
  label: string;
  /** What is typed before the operator. */
  word: string;
  /** Default: a colon. */
  operator?: '>=' | '<=';
  /** Default: any text. */
  kind?: 'day' | 'dollars' | 'whole' | 'ms';
  /** The only values that it can have. */
  values?: readonly string[];
  /** Labels of values that are not words. */
  words?: Readonly<Record<string, string>>;
  /** An example of a value. */
  example?: string;
}

export type FilterSpecs<Name extends string> = Readonly<Record<Name, FilterSpec>>;

/** The value of a filter in words. */
export const filterWords = ({ words, kind }: FilterSpec, value: string) =>
  words?.[value] ?? (kind === 'day' && value.includes('T') ? formatTime(value) : value);
