import { t } from '../strings.ts';
import type { FilterSpec, FilterSpecs } from './filter-spec.ts';

export const specsOf = <Name extends string>(specs: FilterSpecs<Name>) => Object.entries(specs) as [Name, FilterSpec][];

const wordsOf = (text: string) => text.match(/(?:[^\s"]|"[^"]*"?)+/g) ?? [];
const TERM = /^(-?)([a-z][a-z_]*)(>=|<=|[:=<>])(.*)$/is;

/** The operator that finds a filter, and what its strict form adds to a whole number. */
interface Operator {
  operator?: '>=' | '<=';
  add: number;
}

const OPERATORS: Readonly<Record<string, Operator>> = {
  ':': { add: 0 },
  '=': { add: 0 },
  '>=': { operator: '>=', add: 0 },
  '<=': { operator: '<=', add: 0 },
  '>': { operator: '>=', add: 1 },
  '<': { operator: '<=', add: -1 },
};

const MS: Readonly<Record<string, number>> = { '': 1, ms: 1, s: 1_000, m: 60_000, h: 3_600_000 };

function wholeNumber(text: string, add: number): string | undefined {
  return /^\d{1,10}$/.test(text) ? String(Number(text) + add) : undefined;
}

/** The value as the API takes it; undefined if it is not one. */
const READERS: Readonly<Record<NonNullable<FilterSpec['kind']>, (text: string, add: number) => string | undefined>> = {
  day: (text) => (/^\d{4}-\d\d-\d\d(T.*Z)?$/.test(text) && !Number.isNaN(Date.parse(text)) ? text : undefined),
  dollars: (text) => /^\$?(\d{1,9}(?:\.\d{1,12})?)$/.exec(text)?.[1],
  whole: wholeNumber,
  ms(text, add) {
    const [, number, unit = ''] = /^(\d+(?:\.\d+)?)(ms|s|m|h)?$/.exec(text) ?? [];
    return number === undefined ? undefined : wholeNumber(String(Math.round(Number(number) * (MS[unit] ?? 1))), add);
  },
};

const NEEDS: Readonly<Record<NonNullable<FilterSpec['kind']>, string>> = {
  day: t('must be a day, such as 2026-01-31'),
  dollars: t('must be US dollars, such as 0.05'),
  whole: t('must be a whole number'),
  ms: t('must be a duration, such as 500ms or 2s'),
};

function readValue({ kind, values }: FilterSpec, text: string, add: number): { value: string } | { error: string } {
  if (text === '') return { error: t('needs a value') };
  if (values !== undefined && !values.includes(text)) return { error: t(`must be one of ${values.join(', ')}`) };
  if (kind === undefined) return { value: text };
  const value = READERS[kind](text, add);
  return value === undefined ? { error: NEEDS[kind] } : { value };
}

/** Filters by their name in the API, and the words to search for. */
export interface ParsedLine<Name extends string> {
  filters: { [Each in Name]?: string };
  text: string;
  errors: string[];
}

/** A token that is written like a filter. */
interface Term<Name extends string> {
  isNegated: boolean;
  word: string;
  operator: string;
  value: string;
  /** Filters that are typed with this word. */
  named: [Name, FilterSpec][];
}

function termOf<Name extends string>(token: string, specs: FilterSpecs<Name>): Term<Name> | undefined {
  const [, sign, word = '', operator = '', value = ''] = TERM.exec(token) ?? [];
  if (sign === undefined) return undefined;
  const typed = word.toLowerCase();
  const named = specsOf(specs).filter(([name, spec]) => spec.word === typed || name === typed);
  // An address and `a<b` are text.
  if (named.length === 0 && (operator !== ':' || value.startsWith('//'))) return undefined;
  return { isNegated: sign !== '', word, operator, value: value.replaceAll('"', ''), named };
}

/** Reads a line of filters and words. */
export function parseLine<Name extends string>(line: string, specs: FilterSpecs<Name>): ParsedLine<Name> {
  const filters: { [Each in Name]?: string } = {};
  const text: string[] = [];
  const errors: string[] = [];
  for (const token of wordsOf(line)) {
    const term = termOf(token, specs);
    if (term === undefined) {
      text.push(token);
      continue;
    }
    const { isNegated, word, named } = term;
    const { operator, add }: Operator = OPERATORS[term.operator] ?? { add: 0 };
    const found = named.find(([name, spec]) => spec.operator === operator || (operator === undefined && name === word));
    if (isNegated) errors.push(t(`-${word}: a filter cannot exclude`));
    else if (named.length === 0)
      errors.push(t(`${word}: there is no such filter. To search for it, put it in quotes.`));
    else if (found === undefined)
      errors.push(t(`${word}: write ${named.map(([, spec]) => `${spec.word}${spec.operator ?? ':'}…`).join(', ')}`));
    else {
      const read = readValue(found[1], term.value, add);
      if ('error' in read) errors.push(`${word}: ${read.error}`);
      else filters[found[0]] = read.value;
    }
  }
  return { filters, text: text.join(' '), errors };
}

/** A filter as it is typed; undefined if its value cannot be. */
export function showTerm({ word, operator }: FilterSpec, value: string): string | undefined {
  if (value.includes('"')) return undefined;
  return `${word}${operator ?? ':'}${/\s/.test(value) ? `"${value}"` : value}`;
}

/** Words to search for as they are typed: those that look like a filter are quoted. */
export function showText<Name extends string>(text: string, specs: FilterSpecs<Name>): string {
  return wordsOf(text)
    .map((token) => (termOf(token, specs) === undefined ? token : `"${token.replaceAll('"', '')}"`))
    .join(' ');
}

/** What the end of a line can become. */
export interface Completion {
  /** The line with it. */
  line: string;
  shown: string;
  detail: string;
  /** Whether its filter is complete. */
  isWhole: boolean;
}

const daysAgo = (days: number) => {
  const day = new Date();
  day.setDate(day.getDate() - days);
  // The form of a day in Sweden is that of ISO 8601, in the zone of the browser.
  return day.toLocaleDateString('sv-SE');
};

function daysOf(): { value: string; detail: string }[] {
  return [
    { value: daysAgo(0), detail: t('today') },
    { value: daysAgo(1), detail: t('yesterday') },
    { value: daysAgo(7), detail: t('a week ago') },
    { value: daysAgo(30), detail: t('30 days ago') },
  ];
}

/**
 * What can be typed next: filters, or the values of one.
 * @param known values that occur, with their number
 */
export function completionsOf<Name extends string>(
  line: string,
  specs: FilterSpecs<Name>,
  known: (name: Name) => readonly { value: string; count: number }[],
): Completion[] {
  const token = /(?:[^\s"]|"[^"]*"?)*$/.exec(line)?.[0] ?? '';
  const before = line.slice(0, line.length - token.length);
  const term = termOf(token, specs);
  if (term === undefined) {
    const typed = token.toLowerCase();
    return specsOf(specs).flatMap(([, { word, operator, label, example }]) =>
      word.startsWith(typed) || label.toLowerCase().startsWith(typed)
        ? {
            line: `${before}${word}${operator ?? ':'}`,
            shown: `${word}${operator ?? ':'}${example ?? ''}`,
            detail: label,
            isWhole: false,
          }
        : [],
    );
  }
  const operator = OPERATORS[term.operator]?.operator;
  const found = term.named.find(([, spec]) => spec.operator === operator);
  if (found === undefined || term.isNegated) return [];
  const [name, spec] = found;
  const counts = known(name);
  const values =
    spec.kind === 'day'
      ? daysOf()
      : [...new Set([...(spec.values ?? []), ...counts.map(({ value }) => value)])].map((value) => {
          const count = counts.find((each) => each.value === value)?.count;
          return { value, detail: [spec.words?.[value], count].filter((each) => each !== undefined).join(' · ') };
        });
  return values.flatMap(({ value, detail }) => {
    const shown = showTerm(spec, value);
    return shown !== undefined && value.toLowerCase().includes(term.value.toLowerCase())
      ? { line: `${before}${shown}`, shown, detail, isWhole: true }
      : [];
  });
}

/** The filter whose value is at the end of a line, if any: its values may be needed. */
export const filterAtEnd = <Name extends string>(line: string, specs: FilterSpecs<Name>): Name | undefined =>
  termOf(/(?:[^\s"]|"[^"]*"?)*$/.exec(line)?.[0] ?? '', specs)?.named[0]?.[0];
