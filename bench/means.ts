/** What a benchmark may need. */
export interface Means {
  report: (line: string) => void;
  /** A folder for CPU profiles of the service. */
  profileFolder: string | undefined;
  /** How often to measure, in place of the benchmark's own number: fewer for a quick look. */
  rounds: number | undefined;
  /** How long the soak lasts, in place of two hours. */
  minutes?: number | undefined;
  /** Executions a second of the soak, in place of three; all of its other work follows. */
  rate?: number | undefined;
}
