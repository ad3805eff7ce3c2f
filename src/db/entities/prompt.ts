import { defineEntity, p } from '@mikro-orm/core';
import type { ModelParameters } from '../../domain/parameters.ts';
import { timestamp, workspaceOwned } from './workspace-owned.ts';

/** A named prompt; what it says is in its versions. `latestVersion` is also the counter that hands out version numbers. */
export const Prompt = defineEntity({
  name: 'Prompt',
  tableName: 'prompts',
  uniques: [{ properties: ['workspaceId', 'name'] }],
  properties: {
    ...workspaceOwned,
    name: p.text(),
    description: p.text().nullable(),
    latestVersion: p.integer(),
    archivedAt: timestamp().nullable(),
    createdAt: timestamp(),
    updatedAt: timestamp(),
  },
});

/** One immutable version of a prompt. */
export const PromptVersion = defineEntity({
  name: 'PromptVersion',
  tableName: 'prompt_versions',
  uniques: [{ properties: ['prompt', 'version'] }],
  properties: {
    ...workspaceOwned,
    prompt: () => p.manyToOne(Prompt).deleteRule('cascade'),
    version: p.integer(),
    template: p.text(),
    model: p.text(),
    parameters: p.json<ModelParameters>().columnType('jsonb'),
    variables: p.array(),
    commitMessage: p.text().nullable(),
    createdAt: timestamp(),
  },
});

/** A movable name for one version, such as `production`. */
export const PromptLabel = defineEntity({
  name: 'PromptLabel',
  tableName: 'prompt_labels',
  uniques: [{ properties: ['prompt', 'label'] }],
  properties: {
    ...workspaceOwned,
    prompt: () => p.manyToOne(Prompt).deleteRule('cascade'),
    label: p.text(),
    version: p.integer(),
    updatedAt: timestamp(),
  },
});
