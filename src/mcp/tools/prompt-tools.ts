import { ADDS, type JsonObject, READS, SETS, type ToolSpec } from './tool.ts';

const MESSAGES: JsonObject = {
  type: 'array',
  items: { type: 'object' },
  description:
    'Messages {"role": "system" | "user" | "assistant", "content": "…"}, with {{variables}} in their texts, and {"placeholder": "history"} for a list of messages. Either these or template.',
};
const TOOLS: JsonObject = {
  type: ['array', 'null'],
  items: { type: 'object' },
  description:
    'The tools that the model can call: {"name", "description", "parameters": a JSON Schema}. The service never runs them.',
};
const INPUTS: JsonObject = {
  type: ['object', 'null'],
  description:
    'Descriptions of variables, by name: {"type": "string" | "number" | "boolean" | "json" | "messages" | "file", "required", "default", "enum", "description"}.',
};
const PARAMETERS: JsonObject = {
  type: 'object',
  description: 'Parameters of the model: temperature, max_tokens, top_p, stop, seed, response_format and others.',
};
/** Short schemas for parts of a prompt's content whose full schemas would fill a context. */
export const BRIEF_CONTENT = { messages: MESSAGES, tools: TOOLS, inputs: INPUTS, parameters: PARAMETERS };

export const PROMPT_TOOLS: readonly ToolSpec[] = [
  {
    name: 'search_prompts',
    operation: 'listPrompts',
    title: 'Search prompts',
    description:
      'Finds prompts of the workspace by text, group, model or label. Use it first, when you do not know the exact name of a prompt, and before you create one.',
    hints: READS,
  },
  {
    name: 'get_prompt',
    operation: 'getPrompt',
    title: 'Read a prompt',
    description:
      'Reads one version of a prompt: text or messages, model, parameters, variables, labels. Gives the latest version unless you name a version or a label such as production.',
    hints: READS,
  },
  {
    name: 'list_prompt_versions',
    operation: 'listPromptVersions',
    title: 'List the versions of a prompt',
    description: 'Lists the versions of a prompt, newest first, with commit messages and labels: its history.',
    hints: READS,
  },
  {
    name: 'diff_prompt_versions',
    operation: 'diffPromptVersions',
    title: 'Compare two versions of a prompt',
    description:
      'Shows what differs between two versions of a prompt, texts as unified diffs. Use it before you move a label or start or approve a release. Default: the latest version and the one before it.',
    hints: READS,
  },
  {
    name: 'create_prompt',
    operation: 'createPrompt',
    title: 'Create a prompt',
    description:
      'Stores a new prompt. Give either template or messages; {{name}} in a text is a variable. Send base_version 0, so that a prompt of that name that is there already is not changed. It is not used until a caller requests it.',
    hints: ADDS,
    brief: BRIEF_CONTENT,
  },
  {
    name: 'create_prompt_version',
    operation: 'updatePrompt',
    title: 'Create a version of a prompt',
    description:
      'Adds a version to a prompt that exists; omitted fields are unchanged. Send base_version, the version that you read, and a commit_message that says why. Callers of a label, such as production, get the same version as before: evaluate the new one, then start a release or move a label.',
    hints: ADDS,
    brief: BRIEF_CONTENT,
  },
  {
    name: 'archive_prompt',
    operation: 'archivePrompt',
    title: 'Archive a prompt',
    description:
      'Takes a prompt out of use: it can no longer be run until it is restored (restore_prompt). Ask a person before.',
    hints: SETS,
  },
  {
    name: 'restore_prompt',
    operation: 'restorePrompt',
    title: 'Restore an archived prompt',
    description: 'Puts an archived prompt back into use.',
    hints: { ...SETS, destructive: false },
  },
  {
    name: 'list_labels',
    operation: 'listLabels',
    title: 'List labels',
    description:
      'Lists the labels of the workspace, which of them are protected, and what a release that moves them must have.',
    hints: READS,
  },
  {
    name: 'move_label',
    operation: 'setPromptLabel',
    title: 'Move a label to a version',
    description:
      'Points a label such as production at a version of a prompt: all callers of the label get that version immediately. If the label is protected, the key needs the scope publish; where its policy wants a release, use start_release. Show the change (diff_prompt_versions) and ask a person before.',
    hints: SETS,
    omit: ['override', 'reason'],
  },
];
