import { readFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { providerBatchStates } from '../../src/domain/batches/provider-batch-states.ts';
import { evaluationStates } from '../../src/domain/evaluations/evaluation-states.ts';
import { executionStates } from '../../src/domain/execution-states.ts';
import { monitorStates } from '../../src/domain/monitors/monitor-states.ts';
import { releaseStates } from '../../src/domain/releases/release-states.ts';
import { backfillStates } from '../../src/domain/rules/backfill-states.ts';
import { scheduleStates } from '../../src/domain/schedule-states.ts';
import type { StateMachine } from '../../src/domain/state-machine.ts';
import { deliveryStates } from '../../src/domain/webhooks/delivery-states.ts';
import { webhookStates } from '../../src/domain/webhooks/webhook-states.ts';

const page = readFileSync(new URL('../../docs/architecture.md', import.meta.url), 'utf8');

/** `a --> b` of each line in the diagram under a heading. */
function drawn(heading: string): string[] {
  const [, diagram = ''] =
    page.match(new RegExp(`\\n### ${heading}\\n+\`\`\`mermaid\\nstateDiagram-v2\\n([\\s\\S]*?)\`\`\``)) ?? [];
  return diagram
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
}

/** The same of a state machine; `[*]` is where rows begin and end. */
function edgesOf<State extends string>({ initial, final, states, transitions }: StateMachine<State>): string[] {
  return [
    `[*] --> ${initial}`,
    ...states.flatMap((from) => transitions[from].map((to) => `${from} --> ${to}`)),
    ...final.map((state) => `${state} --> [*]`),
  ];
}

test.each([
  { heading: 'Execution', edges: edgesOf(executionStates) },
  { heading: 'Evaluation', edges: edgesOf(evaluationStates) },
  { heading: 'Provider batch', edges: edgesOf(providerBatchStates) },
  { heading: 'Delivery', edges: edgesOf(deliveryStates) },
  { heading: 'Release', edges: edgesOf(releaseStates) },
  { heading: 'Monitor', edges: edgesOf(monitorStates) },
  { heading: 'Backfill', edges: edgesOf(backfillStates) },
  { heading: 'Schedule', edges: edgesOf(scheduleStates) },
  { heading: 'Webhook', edges: edgesOf(webhookStates) },
])('the diagram of $heading has exactly the transitions of the code', ({ heading, edges }) => {
  expect(drawn(heading).sort()).toEqual(edges.sort());
});
