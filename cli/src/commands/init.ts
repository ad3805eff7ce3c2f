import { access } from 'node:fs/promises';
import type { Command } from 'commander';
import { type Context, printJson, printLine, safeText } from '../context.ts';
import { CliError, EXIT } from '../exit-status.ts';
import { formatPromptFile } from '../prompt-file.ts';
import { FOLDER, fileOf, writeFileInFolder } from '../prompt-files/local-prompts.ts';
import { findPrompts, type NamedPrompt } from '../source-prompts/find-prompts.ts';

interface InitOptions {
  dir: string;
  model?: string;
  write?: boolean;
  json?: boolean;
}

interface Proposal {
  file: string;
  text: string;
  prompt: NamedPrompt;
}

const exists = (file: string) =>
  access(file).then(
    () => true,
    () => false,
  );

const count = (number: number, what: string) => `${number} ${what}${number === 1 ? '' : 's'}`;

const indented = (text: string) => text.trimEnd().replace(/^(?=.)/gm, '    ');

function notesOf({ variables, leftOut, notes }: NamedPrompt): string[] {
  const named = [...variables].map(([source, variable]) => `${source.replace(/\s+/g, ' ')} is {{ ${variable} }}`);
  return [...notes, ...named, ...(leftOut.length === 0 ? [] : [`left out: ${leftOut.join(', ')}`])];
}

/** `pms init`. */
export function fillInit(command: Command, context: Context): void {
  const { stdout, stderr } = context;
  command
    .argument('[places...]', 'files and folders of TypeScript, JavaScript and Python; default: this folder')
    .option('--dir <folder>', 'folder for prompt files', FOLDER)
    .option('--model <model>', 'model for prompts whose source does not name a model')
    .option('--write', 'write the prompt files that do not exist yet (default: only show them)')
    .option('--dry-run', 'only show the prompt files (default)')
    .option('--json', 'print JSON')
    .action(async (places: string[], { dir, model, write, json }: InitOptions) => {
      const { files, prompts, skipped } = await findPrompts(places.length === 0 ? ['.'] : places, model);
      const proposals = prompts.map((prompt): Proposal => {
        const { name, version } = prompt;
        return { file: fileOf(dir, name), text: formatPromptFile({ name, ...version }), prompt };
      });
      const kept: string[] = [];
      for (const { file, text } of write ? proposals : []) {
        if (await exists(file)) kept.push(file);
        else await writeFileInFolder(file, text);
      }
      if (json) {
        const shown = proposals.map(({ file, text, prompt }) => {
          const { name, line, callee, variables, leftOut, notes } = prompt;
          const from = { file: prompt.file, line, callee };
          return { name, file, from, text, variables: Object.fromEntries(variables), left_out: leftOut, notes };
        });
        printJson(stdout, { files, prompts: shown, skipped, kept });
      } else {
        for (const { file, text, prompt } of proposals) {
          printLine(stdout, safeText(`${prompt.file}:${prompt.line} ${prompt.callee} → ${file}`));
          printLine(stdout, safeText(indented(text)));
          for (const note of notesOf(prompt)) printLine(stdout, safeText(`    # ${note}`));
        }
        for (const { file, line, callee, reason } of skipped)
          printLine(stderr, safeText(`${file}:${line} ${callee}: skipped: ${reason}`));
        const became = write
          ? `${proposals.length - kept.length} written to ${dir}`
          : 'nothing is written without --write';
        printLine(stdout, `${count(proposals.length, 'prompt')} in ${count(files, 'file')}; ${became}`);
      }
      if (kept.length > 0)
        throw new CliError(EXIT.failed, `failed: these files already exist and were not changed:\n${kept.join('\n')}`);
    });
}
