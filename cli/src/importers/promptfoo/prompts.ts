import path from 'node:path';
import { isObject, type Json, storableObject, textOf } from '../../json.ts';
import { LongNumberError, parseExactly } from '../../long-numbers.ts';
import { mapNames } from '../../names.ts';
import { versionProblem } from '../../prompt-version.ts';
import { readMessages, readText as readTemplate } from '../chat.ts';
import type { ImportedPrompt, ImportedVersion } from '../model.ts';
import type { Thing } from '../report.ts';
import type { ImportSettings } from '../settings.ts';
import { fileInside, parseYaml, readText } from '../source-files.ts';
import { TemplateError } from '../template-text.ts';

const MAX_FILE_BYTES = 1024 * 1024;
const FILE = /^[^\n{}]+\.(txt|md|j2|json|ya?ml|csv|jsonl|[cm]?[jt]s|py|rb|sh|exe)(:\w+)?$/;

/** A prompt of a configuration: its text, or why there is none. */
interface FoundPrompt {
  name: string;
  text: string;
  /** Whether the text is YAML with messages. */
  isYaml: boolean;
  fault?: string;
}

async function readPromptFile(named: string, label: string | undefined, folder: string): Promise<FoundPrompt[]> {
  const file = named.replace(/^file:\/\//, '');
  const name = label ?? file.replace(/\.[^./]*$/, '');
  const none = (fault: string) => [{ name, text: '', isYaml: false, fault }];
  if (file.includes('*')) return none('it is a pattern of file names: name the files');
  const extension = path.extname(file).toLowerCase();
  if (!['.txt', '.md', '.j2', '.json', '.yaml', '.yml'].includes(extension))
    return none('it is a program, or a table of prompts');
  const found = await fileInside(folder, file);
  if (found === undefined) return none('there is no such file in the folder of the configuration');
  const text = await readText(found, MAX_FILE_BYTES);
  if (extension !== '.txt') return [{ name, text, isYaml: /ya?ml$/.test(extension) }];
  // Lines of three dashes separate several prompts in one file.
  const parts = text
    .split(/^---\s*$/m)
    .map((part) => part.trim())
    .filter((part) => part !== '');
  return parts.map((part, index) => ({
    name: parts.length === 1 ? name : `${name}-${index + 1}`,
    text: part,
    isYaml: false,
  }));
}

async function findPrompt(entry: unknown, index: number, folder: string): Promise<FoundPrompt[]> {
  const name = `prompt-${index + 1}`;
  if (typeof entry === 'string') {
    if (entry.startsWith('file://') || FILE.test(entry)) return readPromptFile(entry, undefined, folder);
    if (/^(?:exec|langfuse|portkey|helicone|https?):/.test(entry))
      return [{ name: entry, text: '', isYaml: false, fault: 'it is not in the configuration' }];
    return [{ name, text: entry, isYaml: false }];
  }
  if (!isObject(entry)) return [{ name, text: '', isYaml: false, fault: 'it is neither a text nor an object' }];
  const label = textOf(entry['label']);
  const raw = textOf(entry['raw']);
  const id = textOf(entry['id']);
  if (raw !== undefined) return [{ name: label ?? id ?? name, text: raw, isYaml: false }];
  if (id !== undefined && (id.startsWith('file://') || FILE.test(id))) return readPromptFile(id, label, folder);
  return [{ name: label ?? id ?? name, text: '', isYaml: false, fault: 'it has no text' }];
}

/** The messages in a text that is JSON or YAML; undefined if it is plain text. */
function messagesIn({ text, isYaml, name }: FoundPrompt): unknown[] | undefined {
  try {
    const value: unknown =
      isYaml || text.startsWith('- role:')
        ? parseYaml(text, name)
        : /^\s*\[/.test(text)
          ? parseExactly(text)
          : undefined;
    return Array.isArray(value) && value.every((item) => isObject(item) && 'role' in item) ? value : undefined;
  } catch (error) {
    if (error instanceof LongNumberError) throw new TemplateError(error.message);
    return undefined;
  }
}

/** A model for a configuration's prompts. */
export interface PromptModel {
  model: string;
  parameters: ImportedVersion['parameters'];
  config: Json;
  /** Appended to the names of its prompts. */
  suffix: string;
}

/** The prompts of a configuration. Prompts that can't be imported are left out and reported. */
export async function readPrompts(
  prompts: unknown,
  {
    folder,
    group,
    place,
    models,
    settings,
  }: { folder: string; group: string; place: string; models: PromptModel[] | string; settings: ImportSettings },
): Promise<ImportedPrompt[]> {
  const entries = Array.isArray(prompts) ? prompts : prompts === undefined ? [] : [prompts];
  const found: FoundPrompt[] = [];
  for (const [index, entry] of entries.entries()) found.push(...(await findPrompt(entry, index, folder)));
  const each = (typeof models === 'string' ? [models] : models).flatMap((model) =>
    found.map((prompt) => ({
      model,
      prompt: typeof model === 'string' ? prompt : { ...prompt, name: `${prompt.name}${model.suffix}` },
    })),
  );
  const names = mapNames(
    'prompt',
    each.map(({ prompt }) => `${group}/${prompt.name}`),
  );
  const seen = new Set<string>();
  return each.flatMap(({ prompt, model }) => {
    const thing = settings.report.add('prompt', prompt.name);
    const name = names.get(`${group}/${prompt.name}`) ?? prompt.name;
    if (prompt.fault === undefined && typeof model === 'string') thing.leaveOut(model);
    else if (prompt.fault !== undefined) thing.leaveOut(prompt.fault);
    else if (seen.has(name)) thing.leaveOut('another prompt has this name: use a unique label');
    seen.add(name);
    if (thing.isLeftOut || typeof model === 'string') return [];
    const version = readVersion(prompt, model, settings, thing);
    if (version === undefined) return [];
    thing.change(`it is called "${name}"`);
    return [{ name, newDescription: place, archived: false, versions: [version], labels: {}, thing }];
  });
}

function readVersion(
  prompt: FoundPrompt,
  model: PromptModel,
  settings: ImportSettings,
  thing: Thing,
): ImportedVersion | undefined {
  const reader = {
    syntax: 'nunjucks' as const,
    names: settings.variables,
    onRename: (from: string, to: string) => thing.change(`the variable "${from}" is called "${to}"`),
    onChange: (what: string) => thing.change(what),
  };
  try {
    const messages = messagesIn(prompt);
    const version: ImportedVersion = { model: model.model, fallback_models: [], parameters: model.parameters };
    if (messages === undefined) version.template = readTemplate(prompt.text, reader);
    else version.messages = readMessages(messages, reader);
    if (Object.keys(model.config).length > 0) version.config = storableObject({ promptfoo: model.config });
    const problem = versionProblem(version);
    if (problem === undefined) return version;
    thing.leaveOut(problem);
  } catch (error) {
    if (!(error instanceof TemplateError)) throw error;
    thing.leaveOut(error.message);
  }
  return undefined;
}
