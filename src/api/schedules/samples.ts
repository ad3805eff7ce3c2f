const evaluation = { prompt_name: 'support/greeting', dataset: 'support/questions', threshold: 0.9 };
export const scheduleSample = {
  id: 'sched_0198f0aa-7e5c-7c3a-9d55-0c9f6f1f2a11',
  name: 'every weekday',
  cron: '0 6 * * 1-5',
  time_zone: 'Europe/Berlin',
  paused: false,
  evaluation,
  next_runs: ['2026-02-02T05:00:00.000Z'],
  last_error: null,
  created_at: '2026-01-31T12:00:00.000Z',
};

export const newScheduleSample = {
  name: 'every weekday',
  cron: '0 6 * * 1-5',
  time_zone: 'Europe/Berlin',
  evaluation,
};
