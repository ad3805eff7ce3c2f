/** An evaluator as the API takes it, with the options of its kind. */
export interface Evaluator {
  type: string;
  name?: string;
  weight?: number;
  [option: string]: unknown;
}

interface OptionBase {
  name: string;
  label: string;
  hint?: string;
}

/** An option of an evaluator, and how it is asked for. What is left empty is left out: then the API's default holds. */
export type Option = OptionBase &
  (
    | { kind: 'check'; default: boolean }
    | { kind: 'choice'; choices: readonly { value: string; label: string }[] }
    | { kind: 'number'; required?: boolean; step?: number | 'any'; min?: number }
    | { kind: 'text' | 'long-text' | 'model'; required?: boolean }
    | { kind: 'lines' }
    | { kind: 'json'; start?: unknown }
    | { kind: 'scale' }
  );

export interface EvaluatorKind {
  type: string;
  label: string;
  /** What gives a score of 100 %. */
  description: string;
  options: readonly Option[];
}

const caseSensitive: Option = {
  name: 'case_sensitive',
  label: 'Upper and lower case differ',
  kind: 'check',
  default: true,
};
const codeFence: Option = {
  name: 'strip_code_fence',
  label: 'Also take JSON in a Markdown code block',
  kind: 'check',
  default: false,
};
const partialCredit: Option = {
  name: 'partial_credit',
  label: 'Score the share that matches',
  kind: 'check',
  default: true,
};

/** All kinds that the API has (docs/evaluators.md). */
export const EVALUATOR_KINDS: readonly EvaluatorKind[] = [
  {
    type: 'exact_match',
    label: 'Exact match',
    description: 'The output is the expected value.',
    options: [
      caseSensitive,
      { name: 'trim', label: 'Ignore white space at both ends', kind: 'check', default: true },
      { name: 'normalize_whitespace', label: 'Count any white space as one space', kind: 'check', default: false },
    ],
  },
  {
    type: 'contains',
    label: 'Contains',
    description: 'The output contains texts.',
    options: [
      { name: 'values', label: 'Texts', kind: 'lines', hint: 'One a line. None: the expected value.' },
      {
        name: 'mode',
        label: 'Which of them',
        kind: 'choice',
        choices: [
          { value: 'all', label: 'All of them' },
          { value: 'any', label: 'Any of them' },
        ],
      },
      caseSensitive,
    ],
  },
  {
    type: 'regex',
    label: 'Regular expression',
    description: 'The output matches a pattern.',
    options: [
      { name: 'pattern', label: 'Pattern', kind: 'text', required: true, hint: "In RE2's syntax." },
      { name: 'flags', label: 'Flags', kind: 'text', hint: 'Any of i, m and s.' },
      { name: 'full_match', label: 'The whole output must match', kind: 'check', default: false },
    ],
  },
  { type: 'json_valid', label: 'Valid JSON', description: 'The output is JSON.', options: [codeFence] },
  {
    type: 'json_schema',
    label: 'JSON schema',
    description: 'The output is JSON that is valid against a schema.',
    options: [
      { name: 'schema', label: 'Schema', kind: 'json', start: { type: 'object', required: [], properties: {} } },
      codeFence,
    ],
  },
  {
    type: 'json_match',
    label: 'JSON match',
    description: 'The expected JSON is in the output.',
    options: [
      { name: 'value', label: 'JSON to find', kind: 'json', hint: 'Empty: the expected value.' },
      {
        name: 'mode',
        label: 'Keys and items that are not expected',
        kind: 'choice',
        choices: [
          { value: 'exact', label: 'Count against the output' },
          { value: 'subset', label: 'Are allowed' },
        ],
      },
      { name: 'ignore_array_order', label: 'Lists may be in any order', kind: 'check', default: false },
      partialCredit,
      codeFence,
    ],
  },
  {
    type: 'numeric',
    label: 'Number',
    description: 'The number in the output is the expected one.',
    options: [
      { name: 'absolute_tolerance', label: 'May be off by', kind: 'number', step: 'any', min: 0 },
      {
        name: 'relative_tolerance',
        label: 'May be off by a share of',
        kind: 'number',
        step: 'any',
        min: 0,
        hint: '0.01 is 1 %.',
      },
      {
        name: 'extract',
        label: 'Which number',
        kind: 'choice',
        choices: [
          { value: 'only', label: 'The only one, with any text around it' },
          { value: 'first', label: 'The first' },
          { value: 'last', label: 'The last' },
          { value: 'none', label: 'The output must be nothing but a number' },
        ],
      },
    ],
  },
  {
    type: 'levenshtein',
    label: 'Similar text',
    description: 'How similar the output and the expected value are, by the edits between them.',
    options: [caseSensitive],
  },
  {
    type: 'tool_calls',
    label: 'Tool calls',
    description: 'The model asks for the expected tools.',
    options: [
      {
        name: 'value',
        label: 'Expected calls',
        kind: 'json',
        hint: 'A list of {"name", "input"}. Empty: the expected value.',
      },
      {
        name: 'input',
        label: 'Inputs of the tools',
        kind: 'choice',
        choices: [
          { value: 'exact', label: 'Must be the same' },
          { value: 'subset', label: 'May hold more' },
          { value: 'ignore', label: 'Do not matter' },
        ],
      },
      { name: 'ordered', label: 'In this order', kind: 'check', default: false },
      { name: 'allow_extra', label: 'Other calls are allowed', kind: 'check', default: false },
      partialCredit,
    ],
  },
  {
    type: 'latency',
    label: 'Latency',
    description: 'The model responded in time.',
    options: [
      { name: 'at_most_ms', label: 'At most, in milliseconds', kind: 'number', required: true, min: 1, step: 1 },
    ],
  },
  {
    type: 'cost',
    label: 'Cost',
    description: 'The output was cheap enough.',
    options: [
      { name: 'at_most_usd', label: 'At most, in US dollars', kind: 'number', required: true, min: 0, step: 'any' },
    ],
  },
  {
    type: 'http',
    label: 'A scorer of your own',
    description: 'An endpoint of yours gets each example and responds with a score.',
    options: [
      { name: 'url', label: 'URL', kind: 'text', required: true, hint: 'By https.' },
      {
        name: 'secret',
        label: 'Signing secret',
        kind: 'text',
        hint: 'Empty: one is made, and shown when the run has been created.',
      },
      { name: 'timeout_ms', label: 'Time for a request, in milliseconds', kind: 'number', min: 100, step: 1 },
    ],
  },
  {
    type: 'llm_judge',
    label: 'Model as a judge',
    description: 'A model grades the output.',
    options: [
      { name: 'model', label: 'Model of the judge', kind: 'model', required: true },
      {
        name: 'rubric',
        label: 'Rubric',
        kind: 'long-text',
        required: true,
        hint: 'What a good output is, and what each grade means.',
      },
      { name: 'scale', label: 'Grades', kind: 'scale' },
      { name: 'include_expected', label: 'Show it the expected value', kind: 'check', default: true },
      { name: 'include_input', label: 'Show it the prompt', kind: 'check', default: true },
      { name: 'parameters', label: 'Parameters of the judge', kind: 'json', hint: '{"temperature": 0}' },
    ],
  },
];

export const kindOf = (type: string) => EVALUATOR_KINDS.find((kind) => kind.type === type);

/** An evaluator of a kind, with what must be there to begin with. */
export function startOf(type: string): Evaluator {
  const evaluator: Evaluator = { type };
  for (const option of kindOf(type)?.options ?? [])
    if (option.kind === 'json' && option.start !== undefined) evaluator[option.name] = option.start;
  return evaluator;
}

/** The secrets of scorers that a response shows, this one time, and the request had not given. */
export function newSecrets(
  sent: readonly Evaluator[],
  created: readonly Evaluator[],
): { name: string; secret: string }[] {
  return created.flatMap(({ type, name = type, secret }, index) =>
    typeof secret === 'string' && sent[index]?.['secret'] === undefined ? [{ name, secret }] : [],
  );
}
