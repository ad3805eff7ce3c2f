import { importBraintrust } from './braintrust.ts';
import { importDotprompt } from './dotprompt.ts';
import { importGitHub } from './github.ts';
import { importHumanloop } from './humanloop.ts';
import { importLangfuse, importLangfuseFiles } from './langfuse.ts';
import { fetchLangfuse, type LangfuseAccess } from './langfuse-api.ts';
import { importLangSmith } from './langsmith.ts';
import type { Import } from './model.ts';
import { importOpenAiEvals } from './openai-evals.ts';
import { importPms } from './pms.ts';
import { importPromptfoo } from './promptfoo/import.ts';
import { importPromptLayer } from './promptlayer.ts';
import { importPrompty } from './prompty.ts';
import type { ImportSettings } from './settings.ts';

const READERS: Record<string, (location: string, settings: ImportSettings) => Promise<Import>> = {
  pms: importPms,
  github: importGitHub,
  langfuse: importLangfuseFiles,
  promptfoo: importPromptfoo,
  'openai-evals': importOpenAiEvals,
  langsmith: importLangSmith,
  braintrust: importBraintrust,
  promptlayer: importPromptLayer,
  dotprompt: importDotprompt,
  prompty: importPrompty,
  humanloop: importHumanloop,
};

/** What `pms import` reads. */
export const SOURCES = Object.keys(READERS);

/**
 * Reads the files of a product; nothing is written.
 * @param source one of {@link SOURCES}
 * @param location a file or a folder
 * @throws ImportError, PromptFileError whose message is for the user
 */
export async function readSource(source: string, location: string, settings: ImportSettings): Promise<Import> {
  const read = Object.hasOwn(READERS, source) ? READERS[source] : undefined;
  if (read === undefined) throw new TypeError(`There is no importer for "${source}".`);
  return read(location, settings);
}

/** The same from Langfuse's API. @throws ImportError */
export async function readLangfuseApi(access: LangfuseAccess, settings: ImportSettings): Promise<Import> {
  return importLangfuse(await fetchLangfuse(access), settings);
}
