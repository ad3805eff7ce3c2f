/** What to send to a collector. */
export interface TelemetrySettings {
  traces: boolean;
  metrics: boolean;
  /** Whether spans of model calls contain requests and responses. */
  captureContent: boolean;
}

/** Whether any telemetry is sent. */
export const isTelemetryOn = ({ traces, metrics }: TelemetrySettings): boolean => traces || metrics;

/** Sends the remaining data. Takes at most the given time and never rejects. */
export type StopTelemetry = (withinMs: number) => Promise<void>;
