import { VariableNames } from '../names.ts';
import { Report } from './report.ts';

/** What every importer is given. */
export interface ImportSettings {
  /** For prompts that name no model themselves. */
  defaultModel?: string | undefined;
  report: Report;
  /** Names of variables, the same in the prompts and datasets of one import. */
  variables: VariableNames;
}

/** @param defaultModel for prompts that name no model themselves. Default: they are left out */
export function importSettings(defaultModel?: string): ImportSettings {
  return { defaultModel, report: new Report(), variables: new VariableNames() };
}

export const NO_MODEL = 'it names no model: give one for such prompts with --model';
