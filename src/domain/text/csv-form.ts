/** How a CSV file is written. */
export interface CsvForm {
  delimiter: string;
  /** `\n` stands for CRLF as well. */
  lineEnd: '\n' | '\r';
  /** Where the records begin: behind the byte order mark and the line `sep=;`, by which spreadsheets name their delimiter. */
  start: number;
}

/** Where several are as likely, the first. */
const DELIMITERS = [',', ';', '\t'] as const;
const SEPARATOR_LINE = /^"?sep=([^\w\s"]|\t| )"?(?:\r\n|\r|\n|$)/i;

/** How often each delimiter is in each record that is not empty, outside of quotes. */
function countDelimiters(text: string): Map<string, number>[] {
  const records: Map<string, number>[] = [];
  for (const [line] of text.matchAll(/(?:"(?:[^"]|"")*(?:"|$)|[^"\r\n])+/g)) {
    const outside = line.replaceAll(/"(?:[^"]|"")*(?:"|$)/g, '');
    records.push(new Map(DELIMITERS.map((delimiter) => [delimiter, outside.split(delimiter).length - 1])));
  }
  return records;
}

/**
 * The one that divides records as it divides the headings; of several, the one that is most often in them. One that is in no record divides nothing: a
 * heading may be a sentence.
 */
function delimiterOf(text: string): string {
  const [headings = new Map<string, number>(), ...records] = countDelimiters(text);
  // The last one may be cut.
  const whole = records.length > 1 ? records.slice(0, -1) : records;
  const score = (delimiter: string) => {
    const count = headings.get(delimiter) ?? 0;
    if (count === 0 || (records.length > 0 && !records.some((record) => record.get(delimiter)))) return 0;
    return count + (whole.every((record) => record.get(delimiter) === count) ? text.length : 0);
  };
  return DELIMITERS.reduce((best, each) => (score(each) > score(best) ? each : best));
}

/** @param head the beginning of the file: its headings and a record at least, if it has one */
export function csvFormOf(head: string): CsvForm {
  const mark = head.startsWith('\uFEFF') ? 1 : 0;
  const [line = '', separator] = SEPARATOR_LINE.exec(head.slice(mark)) ?? [];
  const start = mark + line.length;
  const text = head.slice(start);
  const lineEnd = /\r(?!\n|$)/.test(text) && !text.includes('\n') ? '\r' : '\n';
  return { delimiter: separator ?? delimiterOf(text), lineEnd, start };
}

/** What a delimiter is called. */
export const DELIMITER_NAMES: Readonly<Record<string, string>> = {
  ',': 'commas',
  ';': 'semicolons',
  '\t': 'tabs',
  '|': 'vertical bars',
  ' ': 'spaces',
};
