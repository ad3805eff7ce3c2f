import { asText, CALLS_MODELS, READS, SETS, type ToolSpec } from './tool.ts';

const OPEN = { ...SETS, openWorld: true };

export const RELEASE_TOOLS: readonly ToolSpec[] = [
  {
    name: 'start_release',
    operation: 'createRelease',
    title: 'Start a release',
    description:
      'Brings a version of a prompt behind a label step by step (evaluation, approval, canary, promotion) and rolls back where checks fail. Without steps, those of the label are taken (list_labels). This changes what runs in production: ask a person before.',
    hints: { ...CALLS_MODELS, destructive: true },
    omit: ['override'],
    brief: {
      steps: {
        type: 'array',
        items: { type: 'object', properties: { type: { type: 'string' } }, required: ['type'] },
        description:
          'Steps in order: {"type": "evaluate", "dataset", "evaluators", "require": "not_worse" | "better" | "threshold"}, {"type": "approve", "count": 1}, ' +
          '{"type": "canary", "percent": 5, "max_error_rate": 0.5}, {"type": "analyze", "for": "1h", "min_executions": 200, "checks": [{"metric": "error_rate", "max_increase": 0.01}]}, ' +
          '{"type": "wait", "for": "30m"}, {"type": "promote"}. docs://releases says more. Without any, those of the policy of the label are taken.',
      },
    },
    next: ({ id }) => `It has started. Watch it with get_release and id ${asText(id ?? '')}.`,
  },
  {
    name: 'list_releases',
    operation: 'listReleases',
    title: 'List releases',
    description:
      'Lists releases, newest first: of a prompt, a label, a status, for instance those that wait for an approval.',
    hints: READS,
  },
  {
    name: 'get_release',
    operation: 'getRelease',
    title: 'Read a release',
    description:
      'Reads a release: its current step, metrics of both versions, approvals, decisions and the reason for its status.',
    hints: READS,
  },
  {
    name: 'get_release_numbers',
    operation: 'getReleaseNumbers',
    title: 'Read the numbers of a release over time',
    description: 'Shows runs, errors, latency, cost and scores of a release by minute, hour or day, for both versions.',
    hints: READS,
  },
  {
    name: 'approve_release',
    operation: 'approveRelease',
    title: 'Approve a release',
    description:
      'Approves the step at which a release waits, as the owner of this key. Only after a person has decided; pass their words as the comment.',
    hints: { ...OPEN, idempotent: false },
  },
  {
    name: 'reject_release',
    operation: 'rejectRelease',
    title: 'Reject a release',
    description: 'Rejects the step at which a release waits for an approval: the release ends, and the label stays.',
    hints: { ...SETS, idempotent: false },
  },
  {
    name: 'pause_release',
    operation: 'pauseRelease',
    title: 'Pause a release',
    description: 'Pauses a release. Both versions keep their shares.',
    hints: { ...SETS, destructive: false },
  },
  {
    name: 'resume_release',
    operation: 'resumeRelease',
    title: 'Resume a release',
    description: 'Continues a paused release.',
    hints: OPEN,
  },
  {
    name: 'promote_release',
    operation: 'promoteRelease',
    title: 'Promote a release immediately',
    description:
      'Skips the remaining steps of a release and moves the label to the new version for all callers. Ask a person before.',
    hints: SETS,
  },
  {
    name: 'rollback_release',
    operation: 'rollbackRelease',
    title: 'Roll a release back',
    description: 'Ends a release and returns all callers to the previous version. Use it if the new version does harm.',
    hints: SETS,
  },
  {
    name: 'cancel_release',
    operation: 'cancelRelease',
    title: 'Cancel a release',
    description: 'Ends a release that has not moved its label yet; the label does not change.',
    hints: SETS,
  },
];
