/** What is sent to a collector. */
export interface TelemetrySettings {
  traces: boolean;
  metrics: boolean;
  /** Whether spans of model calls carry what was sent and what came back. */
  captureContent: boolean;
}

/** Whether anything is sent. */
export const isTelemetryOn = ({ traces, metrics }: TelemetrySettings): boolean => traces || metrics;

/** Sends what is left. Never longer than it was given, and it never rejects. */
export type StopTelemetry = (withinMs: number) => Promise<void>;
