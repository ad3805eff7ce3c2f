/**
 * A text as a cell of a CSV file. A text that a spreadsheet could mistake for a formula gets the prefix `'`, which spreadsheets interpret
 * as "this is text" (OWASP, CSV Injection). So does a text that looks like the result, so that {@link fromCsvText} restores every text.
 */
export function toCsvText(text: string): string {
  return /^'*[=+\-@\t\r\n]/.test(text) ? `'${text}` : text;
}

/** Restores the text of a cell from {@link toCsvText}. */
export function fromCsvText(cell: string): string {
  return /^'+[=+\-@\t\r\n]/.test(cell) ? cell.slice(1) : cell;
}
