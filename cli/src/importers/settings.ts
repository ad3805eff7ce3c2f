import { VariableNames } from '../names.ts';
import { Report } from './report.ts';

/** What every importer is given. */
export interface ImportSettings {
  /** For prompts that name no model themselves. */
  defaultModel?: string | undefined;
  /** Whether promptfoo's prompts are made for each of its providers. Default: for the first. */
  allModels?: boolean | undefined;
  /** Grades where promptfoo names no model for it. */
  judge?: string | undefined;
  /** Embeds where promptfoo names no model for it. */
  embeddings?: string | undefined;
  /** A scorer is to be written for asserts that run code, and where it is to be. */
  scorer?: { url?: string | undefined } | undefined;
  /**
   * Whether prompts of a group are there that come from another place than `place`, by their descriptions. Default: none are
   * @param group the beginning of their names, as the product has it
   * @param place such as `promptfoo: support/promptfooconfig.yaml`
   */
  isFromElsewhere?: ((group: string, place: string) => Promise<boolean>) | undefined;
  report: Report;
  /** Names of variables, the same in the prompts and datasets of one import. */
  variables: VariableNames;
}

/** @param defaultModel for prompts that name no model themselves. Default: they are left out */
export function importSettings(
  defaultModel?: string,
  others: Pick<ImportSettings, 'allModels' | 'judge' | 'embeddings' | 'scorer' | 'isFromElsewhere'> = {},
): ImportSettings {
  return { ...others, defaultModel, report: new Report(), variables: new VariableNames() };
}

export const NO_MODEL = 'it names no model: give one for such prompts with --model';
