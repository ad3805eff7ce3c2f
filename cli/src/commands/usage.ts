import type { Command } from 'commander';
import { type Context, connect, printJson, printLine } from '../context.ts';
import { formatTable } from '../table.ts';

interface UsageOptions {
  since?: string;
  until?: string;
  prompt?: string;
  model?: string;
  groupBy: string;
  json?: boolean;
}

/** `pms usage`. */
export function fillUsage(command: Command, context: Context): void {
  command
    .option('--since <time>', 'only usage since this time (ISO 8601 with a zone)')
    .option('--until <time>', 'only usage before this time (ISO 8601 with a zone)')
    .option('--prompt <name>', 'only usage of this prompt')
    .option('--model <model>', 'only usage of this model')
    .option('--group-by <fields>', 'any of prompt, model and day, separated by commas', 'prompt,model')
    .option('--json', 'print JSON')
    .action(async ({ since, until, prompt, model, groupBy, json }: UsageOptions) => {
      const pms = await connect(context);
      const usage = await pms.call('getUsage', {
        query: {
          group_by: groupBy,
          ...(since !== undefined && { since }),
          ...(until !== undefined && { until }),
          ...(prompt !== undefined && { prompt_name: prompt }),
          ...(model !== undefined && { model }),
        },
      });
      if (json) return printJson(context.stdout, usage);
      const rows = [
        ...usage.data.map((row) => ['executions', row, row.executions] as const),
        ...usage.evaluations.map((row) => ['evaluations', row, row.examples + row.judgements] as const),
      ].map(([kind, row, calls]) => [
        kind,
        row.prompt_name ?? '–',
        row.model ?? '–',
        row.day ?? '–',
        calls,
        row.tokens.input,
        row.tokens.output,
        row.cost.amount === null ? 'unknown' : `$${row.cost.amount}`,
        row.latency.mean_ms,
      ]);
      printLine(context.stdout, `${usage.since} to ${usage.until}`);
      printLine(
        context.stdout,
        formatTable(['', 'prompt', 'model', 'day', 'runs', 'input tokens', 'output tokens', 'cost', 'mean ms'], rows),
      );
    });
}
