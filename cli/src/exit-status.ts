/** Exit statuses. The printed output conveys the same. */
export const EXIT = {
  passed: 0,
  /** A gate failed: the score, a regression, a check of files, a conflict. */
  failed: 1,
  /** The command line, a file or the configuration is wrong. */
  usage: 2,
  /** The service, or a run, failed. */
  service: 3,
  /** Undecided: the budget was reached, or the difference is within noise. */
  inconclusive: 4,
  /** Ctrl-C: says nothing about work that continues at the service. As in shells: 128 plus the number of SIGINT. */
  interrupted: 130,
} as const;

export type ExitStatus = (typeof EXIT)[keyof typeof EXIT];

/** Ends a command with a message and a status. */
export class CliError extends Error {
  readonly status: ExitStatus;

  constructor(status: ExitStatus, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'CliError';
    this.status = status;
  }
}
