import type { Query } from '../../../db/database.ts';
import { ApiError, invalidField } from '../../../domain/errors.ts';
import type { ModelParameters } from '../../../domain/prompts/parameters.ts';
import type { PromptContent, Tool, ToolChoice } from '../../../domain/prompts/prompt-content.ts';
import type { RolloutKey } from '../../../domain/releases/rollout.ts';
import type { Assumption, DecidedBy, FindVersion } from '../../prompts/known-versions.ts';
import type { VersionSelector } from '../../prompts/prompts.ts';
import { changeVersion, checkVersion, contentOf, EMPTY_VERSION, type VersionChange } from '../../prompts/version.ts';

/** What to run: a version, or a draft instead of one. */
export interface VersionToRun {
  promptName: string | null;
  /** Null for a draft. */
  promptVersion: number | null;
  content: PromptContent;
  /** The model of the request, if it names one. */
  model: string;
  fallbackModels: string[];
  parameters: ModelParameters;
  /** Verified when the run is stored; undefined if the version was read just now. */
  assumption: Assumption | undefined;
  release: DecidedBy | null;
  /** The paths of the parts in the request, for errors about them. `text` is undefined if no field of the request holds it. */
  fields: { model: string; fallbackModels: string; text: string | undefined };
}

/** The parts of a request that decide about the version. */
export interface VersionRequest extends VersionSelector {
  /** Undefined for a draft without a prompt. */
  promptName?: string | undefined;
  /** Runs instead of the version: what `PUT /prompts/{name}` would make of it, or `POST /prompts` if there is no prompt. */
  draft?: VersionChange | undefined;
  /** Replaces the model of the version. */
  model?: string | undefined;
  /** Replaces the tools of the version, and with them its `tool_choice`. */
  tools?: Tool[] | undefined;
  /** Replaces the `tool_choice` of the version. */
  toolChoice?: ToolChoice | undefined;
}

/**
 * Finds what a request runs.
 * @param rollout decides between the versions of a release; a draft is based on the stable version
 * @throws ApiError `not_found`, `prompt_archived`, `invalid_request` if nothing defines what is sent, or to which model
 */
export async function versionToRun(
  query: Query,
  find: FindVersion,
  request: VersionRequest,
  rollout: RolloutKey | undefined,
): Promise<VersionToRun> {
  const { promptName, draft } = request;
  const {
    prompt,
    assumption,
    release = null,
  } = promptName === undefined ? {} : await find(query, promptName, request, draft === undefined ? rollout : undefined);
  if (prompt !== undefined && prompt.archived_at !== null)
    throw new ApiError('prompt_archived', `The prompt "${prompt.name}" is archived. Restore it to run it.`);
  const before = prompt ?? EMPTY_VERSION;
  const version = draft === undefined ? before : changeVersion(before, draft);
  if (version.template === null && version.messages === null)
    throw invalidField('draft.template', 'is required without a prompt, unless messages are given');
  const model = request.model ?? draft?.model ?? prompt?.model;
  if (model === undefined) throw invalidField('draft.model', 'is required without a prompt');
  if (draft !== undefined) checkVersion({ ...version, model }, 'draft.');
  const isOfDraft = request.model === undefined && draft?.model !== undefined;
  return {
    promptName: prompt?.name ?? null,
    promptVersion: draft === undefined ? (prompt?.version ?? null) : null,
    content: withTools(contentOf(version), request),
    model,
    fallbackModels: version.fallback_models,
    parameters: version.parameters,
    assumption,
    release,
    fields: {
      model: isOfDraft ? 'draft.model' : 'model',
      fallbackModels: draft?.fallback_models === undefined ? 'fallback_models' : 'draft.fallback_models',
      text: textField(draft),
    },
  };
}

function withTools(content: PromptContent, { tools, toolChoice }: VersionRequest): PromptContent {
  if (tools === undefined && toolChoice === undefined) return content;
  const used = tools ?? content.tools ?? [];
  if (typeof toolChoice === 'object' && !used.some(({ name }) => name === toolChoice.name))
    throw invalidField('tool_choice', `does not name a tool of the prompt or the request: "${toolChoice.name}"`);
  if (toolChoice === 'required' && used.length === 0)
    throw invalidField('tool_choice', 'is "required", but there are no tools');
  return { ...content, tools: used, tool_choice: toolChoice ?? (tools === undefined ? content.tool_choice : null) };
}

function textField(draft: VersionChange | undefined): string | undefined {
  if (draft?.template !== undefined) return 'draft.template';
  return draft?.messages === undefined ? undefined : 'draft.messages';
}
