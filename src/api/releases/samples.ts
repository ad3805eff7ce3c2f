import { EXAMPLE_STEPS } from '../../services/releases/create-release.ts';

const by = { key_id: 'key_0198f0aa-7e5c-7c3a-9d55-0c9f6f1f2a12', name: 'deploy' };

const arm = {
  executions: 4_104,
  errors: 41,
  error_rate: 0.00999,
  fallbacks: 0,
  reused: 0,
  latency_p95_ms: 1_204.5,
  cost_mean: 0.00021,
  cost_total: 0.86184,
  traces: 0,
  traces_of_both: 0,
  tokens: 492_480,
  scores: {},
};

const run = { numbers: null, due_at: null };
const times = { started_at: '2026-01-31T12:00:00.000Z', finished_at: '2026-01-31T12:00:00.210Z' };

export const releaseSample = {
  id: 'rel_0198f0aa-7e5c-7c3a-9d55-0c9f6f1f2a11',
  prompt_name: 'support/greeting',
  label: 'live',
  stable_version: 1,
  candidate_version: 3,
  steps: [
    { type: 'canary', percent: 5, state: 'passed', ...run, ...times },
    {
      type: 'analyze',
      for: '1h',
      min_executions: 200,
      checks: [{ metric: 'error_rate', against: 'stable', max_increase: 0.01, on_inconclusive: 'pause' }],
      state: 'active',
      numbers: null,
      started_at: '2026-01-31T12:00:00.210Z',
      due_at: '2026-01-31T13:00:00.210Z',
      finished_at: null,
    },
    { type: 'promote', state: 'pending', ...run, started_at: null, finished_at: null },
  ],
  step: 1,
  percent: 5,
  salt: 'n8Zk2QfT0xYb',
  status: 'in_progress',
  status_reason: null,
  reason: 'Shorter answers',
  deadline: null,
  metadata: {},
  approvals: [],
  decisions: [],
  arms: { stable: arm, candidate: { ...arm, executions: 216, errors: 2, error_rate: 0.00926 } },
  evaluation_id: null,
  workflow_id: 'release/rel_0198f0aa-7e5c-7c3a-9d55-0c9f6f1f2a11',
  created_by: by,
  created_at: '2026-01-31T12:00:00.000Z',
  promoted_at: null,
  finished_at: null,
};

export const createSamples = {
  'Watched, in two steps': {
    prompt_name: 'support/greeting',
    label: 'live',
    version: 3,
    steps: EXAMPLE_STEPS,
    reason: 'Shorter answers',
  },
  "By the label's policy": { prompt_name: 'support/greeting', label: 'live', version: 3 },
  'Evaluated and approved first': {
    prompt_name: 'support/greeting',
    label: 'live',
    version: 3,
    steps: [
      { type: 'evaluate', dataset: 'support/questions', require: 'not_worse' },
      { type: 'approve', count: 1 },
      { type: 'promote', bake: { for: '1h', checks: [{ metric: 'error_rate', against: 0.05, max_increase: 0 }] } },
    ],
  },
};

export const numbersSample = {
  data: [
    { at: '2026-01-31T12:05:00.000Z', step: 0, arm: 'candidate', ...arm, executions: 4, errors: 0, error_rate: 0 },
  ],
};
