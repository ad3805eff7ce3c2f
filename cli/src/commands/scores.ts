import { type Command, Option } from 'commander';
import type { Api, RequestOf } from 'pms-client';
import { type Context, confirm, connect, printJson, printLine, safeText } from '../context.ts';
import { CliError, EXIT } from '../exit.ts';
import { pageSize, take } from '../lists.ts';
import { given, wholeNumber } from '../options.ts';
import { formatTable } from '../table.ts';

interface SubjectOptions {
  execution?: string;
  evaluation?: string;
  example?: string;
  trace?: string;
  span?: string;
  conversation?: string;
}

interface ListOptions extends SubjectOptions {
  name?: string;
  source?: Api.Score['source'];
  rule?: string;
  prompt?: string;
  since?: string;
  until?: string;
  limit: number;
  json?: boolean;
}

interface CreateOptions extends SubjectOptions {
  type?: Api.Score['data_type'];
  comment?: string;
  person?: boolean;
  id?: string;
  json?: boolean;
}

interface SummaryOptions extends Pick<ListOptions, 'name' | 'source' | 'rule' | 'prompt' | 'since' | 'until' | 'json'> {
  groupBy: string;
}

const SOURCES = ['api', 'person', 'evaluator', 'feedback'];
const TYPES = ['numeric', 'boolean', 'categorical', 'text'];
const DECIMAL = /^[+-]?(\d+(\.\d*)?|\.\d+)(e[+-]?\d+)?$/i;

/** The subject of a score. @throws CliError if the options name none, or two */
function subjectOf(options: SubjectOptions): Api.NewScore['subject'] {
  const { execution, evaluation, example, trace, span, conversation } = options;
  const named = [execution, evaluation ?? example, trace ?? span, conversation].filter((name) => name !== undefined);
  if (named.length === 1) {
    if (execution !== undefined) return { execution_id: execution };
    if (evaluation !== undefined && example !== undefined) return { evaluation_id: evaluation, example_id: example };
    if (trace !== undefined) return { trace_id: trace, ...given({ span_id: span }) };
    if (conversation !== undefined) return { conversation_id: conversation };
  }
  throw new CliError(
    EXIT.usage,
    'Specify what to score: --execution ID, --evaluation ID and --example ID, --trace ID, or --conversation ID.',
  );
}

/**
 * A value from the command line. Without a type, `true` and `false` are booleans and anything numeric is a number.
 * @throws CliError if it does not match the type
 */
function parseValue(text: string, type: Api.Score['data_type'] | undefined): Api.NewScore['value'] {
  if (type === 'categorical' || type === 'text') return text;
  if (type !== 'numeric' && (text === 'true' || text === 'false')) return text === 'true';
  if (type !== 'boolean' && DECIMAL.test(text)) return Number(text);
  if (type === undefined) return text;
  throw new CliError(EXIT.usage, `${text} is not a ${type === 'numeric' ? 'number' : 'boolean: use true or false'}`);
}

function subjectText(subject: Api.Score['subject']): string {
  return Object.values(subject).join(' ');
}

function line({ id, name, value, subject, source, comment }: Api.Score): string {
  const parts = [id, name, shortText(String(value)), source, subjectText(subject), comment ? shortText(comment) : ''];
  return safeText(parts.join('  ').trimEnd());
}

const shortText = (text: string) => (text.length > 100 ? `${text.slice(0, 99)}…` : text).replace(/\s+/g, ' ');

const round = (value: number | null) => (value === null ? undefined : Number(value.toFixed(4)));

function whatOf({ mean, share_true: share, categories }: Api.ScoreSummary['data'][number]): string {
  if (categories !== null)
    return Object.entries(categories)
      .map(([value, n]) => `${value}: ${n}`)
      .join(', ');
  if (share !== null) return `${Number((share * 100).toFixed(2))} % true`;
  return mean === null ? '–' : `mean ${round(mean)}`;
}

/** `pms scores list|create|delete|summary`. */
export function addScoreCommands(scores: Command, context: Context): void {
  const { stdout } = context;
  const source = () => new Option('--source <source>', 'only scores from this source').choices(SOURCES);

  scores
    .command('list')
    .description('list scores, newest first')
    .option('--name <name>', 'only scores with this name')
    .option('--execution <id>', 'only scores of this execution')
    .option('--evaluation <id>', 'only scores of this evaluation')
    .option('--example <id>', 'only scores of this example of the evaluation')
    .option('--trace <id>', 'only scores of this trace and its steps')
    .option('--span <id>', 'only scores of this step of the trace')
    .option('--conversation <id>', 'only scores of this conversation')
    .addOption(source())
    .option('--rule <rule>', 'only scores of this rule or evaluator')
    .option('--prompt <name>', 'only scores of runs of this prompt')
    .option('--since <time>', 'created at or after this time (ISO 8601 with a zone)')
    .option('--until <time>', 'created before this time (ISO 8601 with a zone)')
    .option('--limit <number>', 'maximum number to list', wholeNumber, 50)
    .option('--json', 'print JSON')
    .action(async ({ limit, json, prompt, ...options }: ListOptions) => {
      const { execution, evaluation, example, trace, span, conversation, ...others } = options;
      const query: RequestOf<'listScores'>['query'] = given({
        execution_id: execution,
        evaluation_id: evaluation,
        example_id: example,
        trace_id: trace,
        span_id: span,
        conversation_id: conversation,
        prompt_name: prompt,
        ...others,
      });
      const pms = await connect(context);
      const found = await take(pms.list('listScores', { query: { ...query, limit: pageSize(limit) } }), limit);
      if (json) printJson(stdout, found);
      else for (const score of found) printLine(stdout, line(score));
    });

  scores
    .command('create')
    .description('store a score')
    .argument('<name>', 'name of the score, such as helpful')
    .argument('<value>', 'value of the score: true, false, a number or a text')
    .option('--execution <id>', 'the execution that is scored')
    .option('--evaluation <id>', 'the evaluation whose example is scored')
    .option('--example <id>', 'the example that is scored')
    .option('--trace <id>', 'the trace that is scored')
    .option('--span <id>', 'the step of the trace that is scored, instead of the whole trace')
    .option('--conversation <id>', 'the conversation that is scored')
    .addOption(new Option('--type <type>', 'type of the score (default: from the value)').choices(TYPES))
    .option('--comment <text>', 'reason for the score')
    .option('--person', 'record the score as given by a person, not a program')
    .option('--id <id>', 'score_ and a UUID of your choice; replaces a stored score with this id')
    .option('--json', 'print JSON')
    .action(async (name: string, text: string, options: CreateOptions) => {
      const { type, comment, person, id, json } = options;
      const subject = subjectOf(options);
      const value = parseValue(text, type);
      const source = person ? ('person' as const) : undefined;
      const body = { name, value, subject, ...given({ id, data_type: type, comment, source }) };
      const stored = await (await connect(context)).call('createScores', { body });
      if (json) printJson(stdout, stored);
      else for (const each of 'data' in stored ? stored.data : [stored]) printLine(stdout, line(each));
    });

  scores
    .command('delete')
    .description('delete scores')
    .argument('<ids...>', 'score_…')
    .option('-y, --yes', 'skip the confirmation')
    .option('--json', 'print JSON')
    .action(async (ids: string[], { yes, json }: { yes?: boolean; json?: boolean }) => {
      const pms = await connect(context);
      await confirm(context, ids.length === 1 ? `Delete ${ids[0]}?` : `Delete ${ids.length} scores?`, yes);
      const deleted: Api.Score[] = [];
      for (const id of ids) {
        const score = await pms.call('deleteScore', { path: { id } });
        deleted.push(score);
        if (!json) printLine(stdout, safeText(`Deleted ${score.id}`));
      }
      if (json) printJson(stdout, deleted);
    });

  scores
    .command('summary')
    .description('summarize scores by prompt, version, label, arm or day')
    .option('--name <name>', 'only scores with this name')
    .option('--prompt <name>', 'only scores of runs of this prompt')
    .addOption(source())
    .option('--rule <rule>', 'only scores of this rule or evaluator')
    .option('--since <time>', 'subjects created at or after this time (ISO 8601 with a zone; default: 30 days ago)')
    .option('--until <time>', 'created before this time (ISO 8601 with a zone)')
    .option('--group-by <fields>', 'any of prompt, version, label, arm and day, separated by commas', 'prompt,version')
    .option('--json', 'print JSON')
    .action(async ({ prompt, groupBy, json, ...others }: SummaryOptions) => {
      const query: RequestOf<'summarizeScores'>['query'] = {
        group_by: groupBy,
        ...given({ prompt_name: prompt, ...others }),
      };
      const summary = await (await connect(context)).call('summarizeScores', { query });
      if (json) {
        printJson(stdout, summary);
        return;
      }
      const fields = groupBy.split(',');
      const cells: Record<string, (row: Api.ScoreSummary['data'][number]) => string | number | null | undefined> = {
        prompt: (row) => row.prompt_name,
        version: (row) => row.prompt_version,
        label: (row) => row.label,
        arm: (row) => row.arm,
        day: (row) => row.day,
      };
      const shown = Object.entries(cells).filter(([field]) => fields.includes(field));
      printLine(stdout, `${summary.since} to ${summary.until}`);
      const rows = summary.data.map((row) => [row.name, ...shown.map(([, cell]) => cell(row)), row.n, whatOf(row)]);
      printLine(stdout, formatTable(['score', ...shown.map(([field]) => field), 'n', ''], rows));
    });
}
