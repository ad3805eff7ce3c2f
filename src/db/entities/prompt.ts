import { defineEntity, p } from '@mikro-orm/core';
import type { Author } from '../../domain/audit.ts';
import type { PromptMessage } from '../../domain/prompts/messages.ts';
import type { ModelParameters } from '../../domain/prompts/parameters.ts';
import type { Inputs, Tool, ToolChoice } from '../../domain/prompts/prompt-content.ts';
import type { JsonValue } from '../../domain/text/json.ts';
import { timestamp, workspaceOwned } from './workspace-owned.ts';

/** A named prompt, whose content is in its versions. `latestVersion` is also the counter for version numbers. */
export const Prompt = defineEntity({
  name: 'Prompt',
  tableName: 'prompts',
  uniques: [{ properties: ['workspaceId', 'name'] }],
  properties: {
    ...workspaceOwned,
    name: p.text(),
    description: p.text().nullable(),
    latestVersion: p.integer(),
    /** The total size of its versions: the sum of their `bytes`. */
    storedBytes: p.bigint('number').default(0),
    archivedAt: timestamp().nullable(),
    createdAt: timestamp(),
    updatedAt: timestamp(),
  },
});

/** One immutable version of a prompt. It has exactly one of `template` and `messages`. */
export const PromptVersion = defineEntity({
  name: 'PromptVersion',
  tableName: 'prompt_versions',
  uniques: [{ properties: ['prompt', 'version'] }],
  properties: {
    ...workspaceOwned,
    prompt: () => p.manyToOne(Prompt).deleteRule('cascade'),
    version: p.integer(),
    template: p.text().nullable(),
    messages: p.json<PromptMessage[]>().columnType('jsonb').nullable(),
    tools: p.json<Tool[]>().columnType('jsonb').nullable(),
    toolChoice: p.json<ToolChoice>().columnType('jsonb').nullable(),
    inputs: p.json<Inputs>().columnType('jsonb').nullable(),
    model: p.text(),
    fallbackModels: p.array().default([]),
    parameters: p.json<ModelParameters>().columnType('jsonb'),
    config: p.json<Record<string, JsonValue>>().columnType('jsonb').nullable(),
    variables: p.array(),
    /** The includes in its own texts: `name`, `name@3` or `name@label`. */
    includeRefs: p.array().default([]),
    commitMessage: p.text().nullable(),
    /** Null for the operator, and for versions older than this column. */
    createdBy: p.json<Author>().columnType('jsonb').nullable(),
    /** The size that counts for a page of a list. */
    bytes: p.integer().default(0),
    createdAt: timestamp(),
  },
});

/** A movable name for one version, such as `production`. */
export const PromptLabel = defineEntity({
  name: 'PromptLabel',
  tableName: 'prompt_labels',
  indexes: [{ properties: ['workspaceId', 'label'] }],
  uniques: [{ properties: ['prompt', 'label'] }],
  properties: {
    ...workspaceOwned,
    prompt: () => p.manyToOne(Prompt).deleteRule('cascade'),
    label: p.text(),
    version: p.integer(),
    updatedAt: timestamp(),
    /** While a release runs: the callers that get `candidate` instead of `version` (`domain/releases/rollout.ts`). Null for none. */
    releaseId: p.uuid().nullable(),
    candidate: p.integer().nullable(),
    /** 0–100. */
    percent: p.double().$type<number>().nullable(),
    salt: p.text().nullable(),
    /** The step of the release since which the share is unchanged. */
    stage: p.integer().nullable(),
  },
});

/** Records that a version includes a prompt, by any reference: `includeRefs` by name, to find what includes a prompt. */
export const PromptInclude = defineEntity({
  name: 'PromptInclude',
  tableName: 'prompt_includes',
  indexes: [
    {
      name: 'prompt_includes_included_name_index',
      properties: ['workspaceId', 'includedName', 'prompt', 'version'],
    },
  ],
  properties: {
    prompt: () => p.manyToOne(Prompt).deleteRule('cascade').primary(),
    version: p.integer().primary(),
    includedName: p.text().primary(),
    workspaceId: workspaceOwned.workspaceId,
  },
});
