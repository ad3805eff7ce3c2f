import { expect, test } from '@jest/globals';
import { providerBatchStates } from '../../src/domain/batches/provider-batch-states.ts';
import { evaluationStates } from '../../src/domain/evaluations/evaluation-states.ts';
import { executionStates } from '../../src/domain/execution-states.ts';
import { improvementStates } from '../../src/domain/improvements/improvement-states.ts';
import { monitorStates } from '../../src/domain/monitors/monitor-states.ts';
import { releaseStates } from '../../src/domain/releases/release-states.ts';
import { backfillStates } from '../../src/domain/rules/backfill-states.ts';
import { scheduleStates } from '../../src/domain/schedule-states.ts';
import type { StateMachine } from '../../src/domain/state-machine.ts';
import { deliveryStates } from '../../src/domain/webhooks/delivery-states.ts';
import { webhookStates } from '../../src/domain/webhooks/webhook-states.ts';
import { ownBlocks } from '../support/guides.ts';
import { claimsOf } from './claims.ts';

const own = ownBlocks(claimsOf('test/docs/state-diagrams.test.ts'));

/** `a --> b` of each line in the diagram under a heading of a guide. */
function drawn(guide: string, heading: string): string[] {
  const [block] = own.take({ page: `docs/${guide}.md`, section: heading });
  const [kind, ...lines] = block?.code.split('\n') ?? [];
  expect(kind).toBe('stateDiagram-v2');
  return lines.map((line) => line.trim()).filter((line) => line !== '');
}

/** The same for a state machine; `[*]` is the start and end of rows. */
function edgesOf<State extends string>({ initial, final, states, transitions }: StateMachine<State>): string[] {
  return [
    `[*] --> ${initial}`,
    ...states.flatMap((from) => transitions[from].map((to) => `${from} --> ${to}`)),
    ...final.map((state) => `${state} --> [*]`),
  ];
}

test.each([
  { guide: 'executions', heading: 'Execution', edges: edgesOf(executionStates) },
  { guide: 'evaluations', heading: 'Evaluation', edges: edgesOf(evaluationStates) },
  { guide: 'batches', heading: 'Provider batch', edges: edgesOf(providerBatchStates) },
  { guide: 'webhooks', heading: 'Delivery', edges: edgesOf(deliveryStates) },
  { guide: 'releases', heading: 'Release', edges: edgesOf(releaseStates) },
  { guide: 'improvements', heading: 'Improvement', edges: edgesOf(improvementStates) },
  { guide: 'monitors', heading: 'Monitor', edges: edgesOf(monitorStates) },
  { guide: 'rules', heading: 'Backfill', edges: edgesOf(backfillStates) },
  { guide: 'evaluations', heading: 'Schedule', edges: edgesOf(scheduleStates) },
  { guide: 'webhooks', heading: 'Webhook', edges: edgesOf(webhookStates) },
])('the diagram of $heading has exactly the transitions of the code', ({ guide, heading, edges }) => {
  expect(drawn(guide, heading).sort()).toEqual(edges.sort());
});
