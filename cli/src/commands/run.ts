import type { Command } from 'commander';
import type { Api, Pms } from 'pms-client';
import { type Context, connect, printJson, printLine, safeText } from '../context.ts';
import { CliError, EXIT } from '../exit.ts';
import { LongNumberError, parseExactly } from '../long-numbers.ts';
import { readObject } from '../object-file.ts';
import { collect, wholeNumber } from '../options.ts';

interface RunOptions {
  var: string[];
  varJson: string[];
  vars?: string;
  label?: string;
  version?: number;
  model?: string;
  stream?: boolean;
  json?: boolean;
}

function assignment(text: string, option: string): [name: string, value: string] {
  const cut = text.indexOf('=');
  if (cut < 1) throw new CliError(EXIT.usage, `${option} ${text}: use a name and a value, such as name=Ada`);
  return [text.slice(0, cut), text.slice(cut + 1)];
}

async function variablesOf({ var: texts, varJson, vars }: RunOptions): Promise<Record<string, unknown>> {
  const variables: Record<string, unknown> = {};
  if (vars !== undefined) Object.assign(variables, await readObject(vars, ' of variables by name'));
  for (const text of texts) {
    const [name, value] = assignment(text, '--var');
    variables[name] = value;
  }
  for (const text of varJson) {
    const [name, value] = assignment(text, '--var-json');
    try {
      variables[name] = parseExactly(value);
    } catch (error) {
      if (error instanceof LongNumberError) throw new CliError(EXIT.usage, `--var-json ${name}: ${error.message}`);
      throw new CliError(EXIT.usage, `--var-json ${name}: is not valid JSON`);
    }
  }
  return variables;
}

/** Prints the output as it streams, and returns the record. */
async function stream(pms: Pms, body: Api.CreateExecution, { stdout, stderr }: Context): Promise<Api.Execution> {
  const shown = stdout.isTTY ? safeText : (text: string) => text;
  let execution: Api.Execution | undefined;
  let text = '';
  for await (const event of pms.stream(body)) {
    if ('execution' in event) execution = event.execution;
    if (event.type === 'output_text.delta') {
      text += event.delta;
      stdout.write(shown(event.delta));
    } else if (event.type === 'execution.restarted' && text !== '') {
      text = '';
      stdout.write('\n');
      printLine(stderr, 'The response restarts:');
    }
  }
  if (text !== '' && !text.endsWith('\n')) stdout.write('\n');
  if (execution === undefined) throw new CliError(EXIT.service, 'The stream ended without an execution.');
  return execution;
}

/** `pms run`. */
export function fillRun(command: Command, context: Context): void {
  command
    .argument('<name>', 'name of the prompt')
    .option('--var <name=text>', 'variable with a string value; repeatable', collect, [])
    .option('--var-json <name=json>', 'variable with a JSON value; repeatable', collect, [])
    .option('--vars <file>', 'variables from a YAML or JSON file')
    .option('--label <label>', 'run the version with this label')
    .option('--version <number>', 'run this version', wholeNumber)
    .option('--model <model>', 'run with this model')
    .option('--stream', 'print the output as it is generated')
    .option('--json', 'print the record of the execution as JSON')
    .action(async (name: string, options: RunOptions) => {
      const { stdout, stderr } = context;
      const body: Api.CreateExecution = {
        prompt_name: name,
        variables: await variablesOf(options),
        ...(options.label !== undefined && { label: options.label }),
        ...(options.version !== undefined && { version: options.version }),
        ...(options.model !== undefined && { model: options.model }),
      };
      const pms = await connect(context);
      const isStreamed = options.stream === true && options.json !== true;
      const execution = isStreamed ? await stream(pms, body, context) : await pms.execute(body);
      if (options.json) printJson(stdout, execution);
      else if (!isStreamed && execution.output !== null)
        printLine(stdout, stdout.isTTY ? safeText(execution.output) : execution.output);
      if (!options.json && (execution.tool_calls?.length ?? 0) > 0) {
        printLine(stderr, 'The model requested tools:');
        printJson(stderr, execution.tool_calls);
      }
      if (execution.status !== 'completed')
        throw new CliError(
          EXIT.service,
          `${execution.id}: ${execution.status}${execution.error ? `: ${execution.error.code}: ${execution.error.message}` : ''}`,
        );
    });
}
