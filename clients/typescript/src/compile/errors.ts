/** One field at fault: `path` in dot notation (`variables.name`), and what to change. */
export interface ErrorDetail {
  path: string;
  message: string;
}
