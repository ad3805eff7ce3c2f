import { DELETE_ONE, type Declaration } from '../capability.ts';

export const schedules = {
  name: 'schedules',
  tags: { Schedules: 'Evaluations that start on a cron schedule.' },
  ids: ['schedule'],
  audit: {
    'schedule.created': 'schedule',
    'schedule.paused': 'schedule',
    'schedule.resumed': 'schedule',
    'schedule.triggered': 'schedule',
    'schedule.deleted': 'schedule',
  },
  auditedWhenFull: ['schedule.deleted'],
  quotas: {
    schedules: {
      setting: 'QUOTA_SCHEDULES',
      default: 100,
      what: 'schedules',
      remedy: DELETE_ONE,
      rows: 'schedules',
    },
  },
} as const satisfies Declaration;
