import type { CreateExecution, Execution, Parameters, Prompt } from '../../api-types.ts';
import type { Evaluator } from '../evaluations/evaluator.ts';
import { type Content, contentOf, renewed, toBody, toEdited } from '../prompt/content.ts';
import { readSeqs, writeSeqs } from './example-seqs.ts';
import type { PlaygroundSearch } from './routes.ts';

/** Edited content that replaces the version's. */
export type Draft = Pick<Content, 'form' | 'template' | 'messages'> & {
  /** The newest version of the prompt when editing started. */
  newest?: number;
};

/** A message in API format, appended to those of the prompt. */
export type ChatMessage = Exclude<Execution['input'], string>[number];

export const MAX_PANES = 6;
export const MAX_ROWS = 50;

/** A column: one of the configurations that run side by side. */
export interface Pane {
  key: number;
  /** A number, a label, or empty for the latest. */
  version: string;
  draft: Draft | undefined;
  /** Empty for the version's. */
  model: string;
  /** Override those of the version. */
  parameters: Parameters;
}

/** A set of variables for all panes. */
export interface Row {
  key: number;
  variables: Record<string, unknown>;
  /** Undefined if there is none. */
  expected: unknown;
  /** The dataset example that it came from. */
  example: { dataset: string; version: number; seq: number } | undefined;
  /** The result of an evaluation that it came from. */
  result?: { evaluation: string; seq: number; name: string };
}

let nextKey = 0;

export const newPane = (part: Partial<Omit<Pane, 'key'>> = {}): Pane => ({
  version: '',
  draft: undefined,
  model: '',
  parameters: {},
  ...part,
  key: nextKey++,
});

export const newRow = (part: Partial<Omit<Row, 'key'>> = {}): Row => ({
  variables: {},
  expected: undefined,
  example: undefined,
  ...part,
  key: nextKey++,
});

/** The state of the playground that is stored. */
export interface Bench {
  panes: readonly Pane[];
  rows: readonly Row[];
  /** Evaluators for scoring outputs in place; empty for none. */
  evaluators: readonly Evaluator[];
}

/** A pane as stored. */
export type StoredPane = Omit<Pane, 'key'>;

/** The stored state of the playground, until it is discarded. */
export interface PlaygroundDraft {
  /** The parameters of its address. */
  search: PlaygroundSearch;
  panes: StoredPane[];
  rows?: Omit<Row, 'key'>[];
  /** The single row of drafts stored before there were several. */
  variables?: Record<string, unknown>;
  evaluators?: Evaluator[];
}

export const toStored = ({ version, draft, model, parameters }: Pane): StoredPane => ({
  version,
  draft,
  model,
  parameters,
});

export const toDraft = (search: PlaygroundSearch, { panes, rows, evaluators }: Bench): PlaygroundDraft => ({
  search,
  panes: panes.map(toStored),
  rows: rows.map(({ key: _key, ...row }) => row),
  evaluators: [...evaluators],
});

/** A stored pane, with keys of this page. */
export const paneOfKept = (pane: StoredPane): Pane =>
  newPane({ ...pane, draft: pane.draft && { ...pane.draft, messages: renewed(pane.draft.messages) } });

export const benchOf = ({ panes, rows, variables = {}, evaluators = [] }: PlaygroundDraft): Bench => ({
  panes: panes.map(paneOfKept),
  rows: rows === undefined ? [newRow({ variables })] : rows.map(newRow),
  evaluators,
});

/** Separates version and model of a pane in the address. */
const AT = '@';

/** The panes and rows for the address, if short enough. */
export function addressOf(
  { panes, rows }: Bench,
  promptName: string | undefined,
): Pick<PlaygroundSearch, 'panes' | 'dataset' | 'examples'> {
  const shown = panes.map(({ version, model }) => [version || 'latest', model].filter(Boolean).join(AT)).join(',');
  const examples = rows.flatMap(({ example }) => example ?? []);
  const [first] = examples;
  const isOfOne = examples.every(({ dataset, version }) => dataset === first?.dataset && version === first.version);
  return {
    panes: promptName === undefined || shown === 'latest' ? undefined : shown,
    ...(first !== undefined && isOfOne
      ? { dataset: `${first.dataset}${AT}${first.version}`, examples: writeSeqs(examples.map(({ seq }) => seq)) }
      : { dataset: undefined, examples: undefined }),
  };
}

/** The panes in an address; empty if there are none. */
export const panesOfAddress = ({ panes }: PlaygroundSearch): Pane[] =>
  panes === undefined
    ? []
    : panes
        .split(',')
        .slice(0, MAX_PANES)
        .map((shown) => {
          const [version = '', model = ''] = shown.split(/@(.*)/s);
          return newPane({ version: version === 'latest' ? '' : version, model });
        });

/** The examples in an address; undefined if there are none. */
export function examplesOfAddress({ dataset, examples }: PlaygroundSearch) {
  if (dataset === undefined) return undefined;
  const [name = '', version] = dataset.split(AT);
  return {
    dataset: name,
    version: version === undefined ? undefined : Number(version),
    seqs: readSeqs(examples ?? '0-9').slice(0, MAX_ROWS),
  };
}

export const EMPTY_DRAFT: Draft = { form: 'template', template: '', messages: [] };

/** @param newest the newest version of the prompt */
export const draftOf = (prompt: Prompt, newest: number): Draft => {
  const { form, template, messages } = contentOf(prompt);
  return { form, template, messages, newest };
};

/** A pane that repeats an execution; a draft contains what was sent then. */
export function paneOf(execution: Execution): Pane {
  const { prompt_name, prompt_version, requested_model: model, parameters, input } = execution;
  if (prompt_name !== null && prompt_version !== null)
    return newPane({ version: String(prompt_version), model, parameters });
  return newPane({ draft: sentDraft(input), model, parameters });
}

/** The sent input as a draft. */
export const sentDraft = (input: Execution['input']): Draft =>
  typeof input === 'string'
    ? { ...EMPTY_DRAFT, template: input }
    : { form: 'messages', template: '', messages: input.map(toEdited) };

/** The content of a pane. @param prompt the version of the pane, if any */
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
 * The pane as a version, for `POST` and `PUT /prompts`.
 * @throws ContentError
 */
export function versionBody(pane: Pane, prompt: Prompt | undefined): ReturnType<typeof toBody> {
  return toBody(paneContent(pane, prompt));
}

/**
 * The body that runs a pane.
 * @param turns of the conversation, after the messages of the pane
 * @throws ContentError
 */
export function executionBody(
  pane: Pane,
  promptName: string | undefined,
  variables: Record<string, unknown>,
  turns: readonly ChatMessage[] = [],
): CreateExecution {
  const { version, draft, model, parameters } = pane;
  const selector = /^\d+$/.test(version) ? { version: Number(version) } : version === '' ? {} : { label: version };
  const common = {
    ...(promptName !== undefined && { prompt_name: promptName, ...selector }),
    ...(Object.keys(parameters).length > 0 && { parameters }),
    variables,
    ...(turns.length > 0 && { messages: turns }),
    metadata: { source: 'playground' },
  };
  if (draft === undefined) return { ...common, ...(model !== '' && { model }) } as CreateExecution;
  const { template, messages } = toBody(paneContent(pane, undefined));
  const text = draft.form === 'template' ? { template } : { messages };
  return { ...common, draft: { ...text, ...(model !== '' && { model }) } } as CreateExecution;
}
