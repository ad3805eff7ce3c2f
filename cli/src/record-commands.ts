import type { Command } from 'commander';
import type { Pms } from 'pms-client';
import { type Context, confirm, connect } from './context.ts';
import { readDefinition } from './definition-file.ts';
import { type Columns, printDone, printList, printRecord } from './lists.ts';

interface Options {
  yes?: boolean;
  json?: boolean;
}

/**
 * What commands of a resource have in common: each makes one call and prints what comes of it, as JSON if that is asked for. Each method adds one
 * command to `parent`; `description` is what the help says of it.
 * @param argument which record it is about
 */
export function recordCommands<Item extends object>(
  parent: Command,
  context: Context,
  argument: readonly [name: string, description?: string],
) {
  const { stdout } = context;
  const command = (name: string, description: string, ...args: [name: string, description?: string][]) => {
    const made = parent.command(name).description(description);
    for (const [arg, what] of args) made.argument(arg, what);
    return made;
  };
  const ofOne = (name: string, description: string) => command(name, description, [...argument]);

  /** Changes a record, or has something done with it. @param question asked before */
  const act = (
    name: string,
    description: string,
    call: (pms: Pms, id: string) => Promise<Item | undefined>,
    say: (id: string, result: Partial<Item>) => string,
    question?: (id: string) => string,
  ) => {
    const made = ofOne(name, description);
    if (question) made.option('-y, --yes', 'skip the confirmation');
    made.option('--json', 'print JSON').action(async (id: string, { yes, json }: Options) => {
      const pms = await connect(context);
      if (question) await confirm(context, question(id), yes);
      const result: Partial<Item> = (await call(pms, id)) ?? {};
      printDone(stdout, result, json, say(id, result));
    });
  };

  return {
    act,
    delete(
      description: string,
      call: (pms: Pms, id: string) => Promise<Item | undefined>,
      question = (id: string) => `Delete ${id}?`,
    ) {
      act('delete', description, call, (id) => `Deleted ${id}`, question);
    },
    list(description: string, call: (pms: Pms) => AsyncIterable<Item>, columns: Columns<Item>) {
      command('list', description)
        .option('--json', 'print JSON')
        .action(async ({ json }: Options) => {
          printList(stdout, await Array.fromAsync(call(await connect(context))), columns, json);
        });
    },
    /** @param text in place of the whole record as YAML; `json`: what the help says of that option */
    get(
      description: string,
      call: (pms: Pms, id: string) => Promise<Item>,
      { name = 'get', json = 'print JSON', text }: GetOptions<Item> = {},
    ) {
      ofOne(name, description)
        .option('--json', json)
        .action(async (id: string, options: Options) => {
          const record = await call(await connect(context), id);
          if (text && !options.json) stdout.write(await text(record));
          else await printRecord(stdout, record, options.json);
        });
    },
    /** Creates or replaces a record by a file, which the service checks. */
    set<Body>(
      description: string,
      file: string,
      call: (pms: Pms, name: string, body: Body) => Promise<Item>,
      say: (stored: Item) => string,
    ) {
      command('set', description, ['<file>', file])
        .option('--json', 'print JSON')
        .action(async (path: string, { json }: Options) => {
          const { name, body } = await readDefinition<Body>(path);
          const stored = await call(await connect(context), name, body);
          printDone(stdout, stored, json, say(stored));
        });
    },
  };
}

interface GetOptions<Item> {
  name?: string;
  json?: string;
  text?: (record: Item) => Promise<string>;
}
