import type { LangfuseAccess } from './langfuse-api.ts';
import type { Import } from './model.ts';
import type { ImportSettings } from './settings.ts';

type Read = (location: string, settings: ImportSettings) => Promise<Import>;

/** Each is loaded on demand. */
const READERS: Record<string, () => Promise<Read>> = {
  pms: async () => (await import('./pms.ts')).importPms,
  github: async () => (await import('./github.ts')).importGitHub,
  langfuse: async () => (await import('./langfuse.ts')).importLangfuseFiles,
  promptfoo: async () => (await import('./promptfoo/import.ts')).importPromptfoo,
  'openai-evals': async () => (await import('./openai-evals.ts')).importOpenAiEvals,
  langsmith: async () => (await import('./langsmith.ts')).importLangSmith,
  braintrust: async () => (await import('./braintrust.ts')).importBraintrust,
  promptlayer: async () => (await import('./promptlayer.ts')).importPromptLayer,
  dotprompt: async () => (await import('./dotprompt.ts')).importDotprompt,
  prompty: async () => (await import('./prompty.ts')).importPrompty,
  humanloop: async () => (await import('./humanloop.ts')).importHumanloop,
};

/** The sources that `pms import` supports. */
export const SOURCES = Object.keys(READERS);

/**
 * Reads the files of a product without writing anything.
 * @param source one of {@link SOURCES}
 * @param location a file or a folder
 * @throws ImportError, PromptFileError with a message for the user
 */
export async function readSource(source: string, location: string, settings: ImportSettings): Promise<Import> {
  const load = Object.hasOwn(READERS, source) ? READERS[source] : undefined;
  if (load === undefined) throw new TypeError(`There is no importer for "${source}".`);
  return (await load())(location, settings);
}

/** The same from Langfuse's API. @throws ImportError */
export async function readLangfuseApi(access: LangfuseAccess, settings: ImportSettings): Promise<Import> {
  const [{ importLangfuse }, { fetchLangfuse }] = await Promise.all([
    import('./langfuse.ts'),
    import('./langfuse-api.ts'),
  ]);
  return importLangfuse(await fetchLangfuse(access), settings);
}
