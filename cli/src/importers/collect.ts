import { isLabel, mapLabels, mapNames } from '../names.ts';
import { versionProblem } from '../prompt-version.ts';
import { ImportError, type ImportedDataset, type ImportedPrompt, type ImportedVersion } from './model.ts';
import type { Report, Thing } from './report.ts';
import type { ImportSettings } from './settings.ts';
import { fetchedFiles, listFiles, type SourceFile } from './source-files.ts';
import { TemplateError } from './template-text.ts';

const MAX_DESCRIPTION_LENGTH = 2000;
const MAX_MESSAGE_LENGTH = 1000;

/**
 * Reads independent files. One of several that can't be read is left out, and the report names its line.
 * @throws ImportError if it is the only one
 */
export async function readEach<Read>(
  location: string,
  endings: readonly string[],
  report: Report,
  read: (file: SourceFile) => Promise<Read>,
): Promise<Read[]> {
  const files = await fetchedFiles(await listFiles(location, endings), report);
  const all: Read[] = [];
  for (const file of files) {
    try {
      all.push(await read(file));
    } catch (error) {
      if (!(error instanceof ImportError) || files.length === 1) throw error;
      const { name } = file;
      const said = error.message.startsWith(name) ? error.message.slice(name.length) : `: ${error.message}`;
      const [, line = '', what = said] = /^(:\d+)?: ([\s\S]*)$/.exec(said) ?? [];
      report.leaveOut('file', `${name}${line}`, what);
    }
  }
  return all;
}

/** A version of a prompt in the source. */
export interface FoundVersion {
  /** Its name in the source, for the report, if a prompt has several: `version 3`. */
  called?: string;
  /** Labels that point to it in the source. */
  labels?: string[];
  /**
   * @param thing notes what changes
   * @throws TemplateError naming what prompts here do not support
   */
  read: (thing: Thing) => ImportedVersion;
}

/** A prompt in the source. */
export interface FoundPrompt {
  /** Its name in the source. */
  source: string;
  description?: string | undefined;
  /** Oldest first. */
  versions: FoundVersion[];
}

function takeVersions(found: FoundPrompt, labelNames: Map<string, string>, thing: Thing) {
  const versions: ImportedVersion[] = [];
  const labels: Record<string, number> = {};
  const faults: string[] = [];
  for (const { called = 'a version', labels: own = [], read } of found.versions) {
    try {
      const version = read(thing);
      const problem = versionProblem(version);
      if (problem !== undefined) throw new TemplateError(problem);
      const { commit_message } = version;
      versions.push({
        ...version,
        ...(commit_message !== undefined && { commit_message: commit_message.slice(0, MAX_MESSAGE_LENGTH) }),
      });
      for (const label of own) {
        const taken = labelNames.get(label) ?? label;
        if (!isLabel(label)) thing.change(`"${label}" is the label "${taken}"`);
        labels[taken] = versions.length;
      }
    } catch (error) {
      if (!(error instanceof TemplateError)) throw error;
      const lost = own.length === 0 ? '' : `, and so are its labels (${own.join(', ')})`;
      faults.push(found.versions.length === 1 ? error.message : `${called} is left out${lost}: ${error.message}`);
    }
  }
  return { versions, labels, faults };
}

/**
 * Assigns prompts their names and reads their versions. Prompts without a usable version are left out; of several with the same
 * name in the source, the first is used.
 */
export function takePrompts(found: FoundPrompt[], settings: ImportSettings): ImportedPrompt[] {
  const names = mapNames(
    'prompt',
    found.map(({ source }) => source),
  );
  const labelNames = mapLabels(found.flatMap(({ versions }) => versions.flatMap(({ labels = [] }) => labels)));
  const taken = new Set<string>();
  return found.flatMap((one) => {
    const thing = settings.report.add('prompt', one.source);
    const name = names.get(one.source) ?? one.source;
    if (taken.has(name)) {
      thing.leaveOut('another prompt has this name: rename one of them');
      return [];
    }
    taken.add(name);
    const { versions, labels, faults } = takeVersions(one, labelNames, thing);
    if (versions.length === 0) {
      thing.leaveOut(faults.length === 0 ? 'all of its versions are missing' : faults.join('; '));
      return [];
    }
    thing.rename(name);
    for (const fault of faults) thing.change(fault);
    const description = one.description?.slice(0, MAX_DESCRIPTION_LENGTH);
    const prompt = { name, archived: false, versions, labels, thing };
    return [description === undefined ? prompt : { ...prompt, description }];
  });
}

/** A dataset in the source. Its examples are read on demand. */
export interface FoundDataset {
  /** Its name in the source. */
  source: string;
  description?: string | undefined;
  read: ImportedDataset['read'];
}

/** Assigns datasets their names. If several have the same name in the source, the first is used. */
export function takeDatasets(found: FoundDataset[], settings: ImportSettings): ImportedDataset[] {
  const names = mapNames(
    'dataset',
    found.map(({ source }) => source),
  );
  const taken = new Set<string>();
  return found.flatMap(({ source, description, read }) => {
    const thing = settings.report.add('dataset', source);
    const name = names.get(source) ?? source;
    if (taken.has(name)) {
      thing.leaveOut('another dataset has this name: rename one of them');
      return [];
    }
    taken.add(name);
    thing.rename(name);
    return [{ name, description: description?.slice(0, MAX_DESCRIPTION_LENGTH), thing, read }];
  });
}
