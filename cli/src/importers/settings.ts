import { VariableNames } from '../names.ts';
import { Report } from './report.ts';

/** The settings of every importer. */
export interface ImportSettings {
  /** For prompts without their own model. */
  defaultModel?: string | undefined;
  /** Whether to create promptfoo's prompts for each of its providers. Default: for the first. */
  allModels?: boolean | undefined;
  /** The grading model if promptfoo names none. */
  judge?: string | undefined;
  /** The embedding model if promptfoo names none. */
  embeddings?: string | undefined;
  /** Set to write a scorer for asserts that run code, optionally with its address. */
  scorer?: { url?: string | undefined } | undefined;
  /**
   * Whether a group already has prompts from a location other than `place`, by their descriptions. Default: no
   * @param group the common start of their names, as the product has it
   * @param place such as `promptfoo: support/promptfooconfig.yaml`
   */
  isFromElsewhere?: ((group: string, place: string) => Promise<boolean>) | undefined;
  report: Report;
  /** Variable names, shared by the prompts and datasets of one import. */
  variables: VariableNames;
}

/** @param defaultModel for prompts without their own model. Default: they are left out */
export function importSettings(
  defaultModel?: string,
  others: Pick<ImportSettings, 'allModels' | 'judge' | 'embeddings' | 'scorer' | 'isFromElsewhere'> = {},
): ImportSettings {
  return { ...others, defaultModel, report: new Report(), variables: new VariableNames() };
}

export const NO_MODEL = 'it names no model: set one for such prompts with --model';
