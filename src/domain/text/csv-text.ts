/**
 * A text as a cell of a CSV file. One that a spreadsheet would take for a formula gets a `'` in front, which spreadsheets take for
 * "this is text" (OWASP, CSV Injection). So does one that looks like the result, so that {@link fromCsvText} gives back every text.
 */
export function toCsvText(text: string): string {
  return /^'*[=+\-@\t\r\n]/.test(text) ? `'${text}` : text;
}

/** The text that {@link toCsvText} has made a cell of. */
export function fromCsvText(cell: string): string {
  return /^'+[=+\-@\t\r\n]/.test(cell) ? cell.slice(1) : cell;
}
