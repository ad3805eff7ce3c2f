import type { CreateExecution, Execution, Parameters, Prompt } from '../../api-types.ts';
import { formatJson } from '../../format.ts';
import { type Content, contentOf, newMessage, renewed, toBody } from '../prompt/content.ts';
import type { PlaygroundSearch } from './routes.ts';
import type { Run } from './run.ts';

/** What is edited in a pane, in place of what its version says. */
export type Draft = Pick<Content, 'form' | 'template' | 'messages'> & {
  /** The newest version of the prompt when editing began. */
  newest?: number;
};

/** One of the things that are run side by side. */
export interface Pane {
  key: number;
  /** A number, a label, or empty for the latest. */
  version: string;
  draft: Draft | undefined;
  /** Empty: the version's. */
  model: string;
  /** Over those of the version. */
  parameters: Parameters;
  run: Run | undefined;
}

let nextKey = 0;

export const newPane = (part: Partial<Omit<Pane, 'key'>> = {}): Pane => ({
  version: '',
  draft: undefined,
  model: '',
  parameters: {},
  run: undefined,
  ...part,
  key: nextKey++,
});

/** What is kept of the playground until it is thrown away. */
export interface PlaygroundDraft {
  /** The parameters of its address. */
  search: PlaygroundSearch;
  panes: Omit<Pane, 'key' | 'run'>[];
  variables: Record<string, unknown>;
}

export const toDraft = (
  search: PlaygroundSearch,
  panes: readonly Pane[],
  variables: Record<string, unknown>,
): PlaygroundDraft => ({
  search,
  panes: panes.map(({ version, draft, model, parameters }) => ({ version, draft, model, parameters })),
  variables,
});

export const panesOf = ({ panes }: PlaygroundDraft): Pane[] =>
  panes.map((pane) =>
    newPane({ ...pane, draft: pane.draft && { ...pane.draft, messages: renewed(pane.draft.messages) } }),
  );

export const EMPTY_DRAFT: Draft = { form: 'template', template: '', messages: [] };

/** @param newest the newest version of the prompt */
export const draftOf = (prompt: Prompt, newest: number): Draft => {
  const { form, template, messages } = contentOf(prompt);
  return { form, template, messages, newest };
};

/** A pane that does again what an execution did; a draft is what was sent then. */
export function paneOf(execution: Execution): Pane {
  const { prompt_name, prompt_version, requested_model: model, parameters, input } = execution;
  if (prompt_name !== null && prompt_version !== null)
    return newPane({ version: String(prompt_version), model, parameters });
  const draft: Draft =
    typeof input === 'string'
      ? { ...EMPTY_DRAFT, template: input }
      : {
          form: 'messages',
          template: '',
          messages: input.map(({ role, content }) =>
            typeof content === 'string'
              ? { ...newMessage(role, content), isJson: false }
              : { ...newMessage(role, formatJson(content)), isJson: true },
          ),
        };
  return newPane({ draft, model, parameters });
}

/** The content that a pane stands for. @param prompt the version of the pane, where there is one */
function paneContent(pane: Pane, prompt: Prompt | undefined): Content {
  const base: Content =
    prompt === undefined
      ? {
          ...EMPTY_DRAFT,
          model: pane.model,
          fallback_models: [],
          parameters: {},
          inputs: {},
          tools: '',
          tool_choice: '',
          config: '',
          description: '',
        }
      : contentOf(prompt);
  const { newest: _, ...text } = pane.draft ?? {};
  return {
    ...base,
    ...text,
    model: pane.model === '' ? base.model : pane.model,
    parameters: { ...base.parameters, ...pane.parameters },
  };
}

/**
 * What a pane is as a version, for `POST` and `PUT /prompts`.
 * @throws ContentError
 */
export function versionBody(pane: Pane, prompt: Prompt | undefined): ReturnType<typeof toBody> {
  return toBody(paneContent(pane, prompt));
}

/**
 * What runs a pane.
 * @throws ContentError
 */
export function executionBody(
  pane: Pane,
  promptName: string | undefined,
  variables: Record<string, unknown>,
): CreateExecution {
  const { version, draft, model, parameters } = pane;
  const selector = /^\d+$/.test(version) ? { version: Number(version) } : version === '' ? {} : { label: version };
  const common = {
    ...(promptName !== undefined && { prompt_name: promptName, ...selector }),
    ...(Object.keys(parameters).length > 0 && { parameters }),
    variables,
    metadata: { source: 'playground' },
  };
  if (draft === undefined) return { ...common, ...(model !== '' && { model }) } as CreateExecution;
  const { template, messages } = toBody(paneContent(pane, undefined));
  const text = draft.form === 'template' ? { template } : { messages };
  return { ...common, draft: { ...text, ...(model !== '' && { model }) } } as CreateExecution;
}
