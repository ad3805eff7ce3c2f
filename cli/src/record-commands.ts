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
 * Shared commands of resources: each makes one call and prints the result, as JSON if requested. Each method adds one command to
 * `parent`; `description` is its help text.
 * @param argument identifies the record
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

  /** Changes a record or triggers an action on it. @param question for confirmation */
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
    /** A command for each operation that only needs the record. @param table by name: the operation, the help text, what became of it */
    controls<Operation extends string>(
      table: Readonly<Record<string, readonly [Operation, string, string]>>,
      call: (pms: Pms, operation: Operation, id: string) => Promise<Item>,
    ) {
      for (const [name, [operation, description, became]] of Object.entries(table))
        act(
          name,
          description,
          (pms, id) => call(pms, operation, id),
          (id) => `${id} ${became}`,
        );
    },
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
    /** @param text replaces the output of the whole record as YAML; `json`: help text of that option */
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
    /** Creates or replaces a record from a file, which the service validates. */
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
