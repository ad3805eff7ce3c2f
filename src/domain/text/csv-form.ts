/** The format of a CSV file. */
export interface CsvForm {
  delimiter: string;
  /** `\n` also means CRLF. */
  lineEnd: '\n' | '\r';
  /** The start of the records: after the byte order mark and the line `sep=;`, with which spreadsheets declare their delimiter. */
  start: number;
}

/** If several are equally likely, the first one is used. */
const DELIMITERS = [',', ';', '\t'] as const;
const SEPARATOR_LINE = /^"?sep=([^\w\s"]|\t| )"?(?:\r\n|\r|\n|$)/i;

/** The number of occurrences of each delimiter in each record that is not empty, outside of quotes. */
function countDelimiters(text: string): Map<string, number>[] {
  const records: Map<string, number>[] = [];
  for (const [line] of text.matchAll(/(?:"(?:[^"]|"")*(?:"|$)|[^"\r\n])+/g)) {
    const outside = line.replaceAll(/"(?:[^"]|"")*(?:"|$)/g, '');
    records.push(new Map(DELIMITERS.map((delimiter) => [delimiter, outside.split(delimiter).length - 1])));
  }
  return records;
}

/**
 * The delimiter that divides records like the headings; of several, the most frequent one. A delimiter must occur in a record,
 * because a heading may be a sentence.
 */
function delimiterOf(text: string): string {
  const [headings = new Map<string, number>(), ...records] = countDelimiters(text);
  // The last one may be truncated.
  const whole = records.length > 1 ? records.slice(0, -1) : records;
  const score = (delimiter: string) => {
    const count = headings.get(delimiter) ?? 0;
    if (count === 0 || (records.length > 0 && !records.some((record) => record.get(delimiter)))) return 0;
    return count + (whole.every((record) => record.get(delimiter) === count) ? text.length : 0);
  };
  return DELIMITERS.reduce((best, each) => (score(each) > score(best) ? each : best));
}

/** @param head the start of the file: its headings and at least one record, if it has one */
export function csvFormOf(head: string): CsvForm {
  const mark = head.startsWith('\uFEFF') ? 1 : 0;
  const [line = '', separator] = SEPARATOR_LINE.exec(head.slice(mark)) ?? [];
  const start = mark + line.length;
  const text = head.slice(start);
  const lineEnd = /\r(?!\n|$)/.test(text) && !text.includes('\n') ? '\r' : '\n';
  return { delimiter: separator ?? delimiterOf(text), lineEnd, start };
}

/** The names of delimiters. */
export const DELIMITER_NAMES: Readonly<Record<string, string>> = {
  ',': 'commas',
  ';': 'semicolons',
  '\t': 'tabs',
  '|': 'vertical bars',
  ' ': 'spaces',
};
