/** The environment of a benchmark. */
export interface Means {
  report: (line: string) => void;
  /** A folder for CPU profiles of the service. */
  profileFolder: string | undefined;
  /** The number of rounds, instead of the benchmark's own: fewer for a quick run. */
  rounds: number | undefined;
  /** The duration of the soak, instead of two hours. */
  minutes?: number | undefined;
  /** Executions per second of the soak, instead of three, with its other work in proportion. */
  rate?: number | undefined;
}
