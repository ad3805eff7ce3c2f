import type { z } from 'zod';
import type * as monitors from '../../../../src/api/monitors/schema.ts';

export type Monitor = z.output<typeof monitors.Monitor>;
export type PutMonitor = z.input<typeof monitors.PutMonitor>;
export type MonitorNumbers = z.output<typeof monitors.MonitorNumbers>;
export type MonitorChange = z.output<typeof monitors.MonitorHistory>['data'][number];
