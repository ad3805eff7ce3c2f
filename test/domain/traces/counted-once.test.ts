import { expect, test } from '@jest/globals';
import { ownUsage } from '../../../src/domain/traces/own-usage.ts';
import { fixture, readJson } from './traces-support.ts';

test.each([
  'ai-sdk',
  'ai-sdk-legacy',
  'langfuse',
  'langgraph',
  'litellm',
  'openai-agents',
  'openinference-openai',
  'openllmetry',
  'pydantic-ai',
])('usage of %s in calls and surrounding steps is counted once', (name) => {
  const { billed, request } = fixture(name);
  const { steps } = readJson(request);
  const sum = (tokens: ({ input: number; output: number } | null)[]) =>
    (['input', 'output'] as const).map((kind) => tokens.reduce((total, each) => total + (each?.[kind] ?? 0), 0));
  const own = [...ownUsage(steps).values()];
  expect(sum(own.map(({ tokens }) => tokens))).toEqual([billed.input, billed.output]);
  const agents = steps.filter(({ type, tokens }) => type === 'agent' && tokens !== null);
  // These also put the sum of their calls on the agent.
  const isWrapped = ['ai-sdk', 'ai-sdk-legacy', 'pydantic-ai'].includes(name);
  expect(sum(agents.map(({ tokens }) => tokens))).toEqual(isWrapped ? [billed.input, billed.output] : [0, 0]);
});
