import { ApiError, invalidField } from '../../../domain/errors.ts';
import type { Models } from '../../../models/model.ts';
import { type ResolvedModel, resolveModelName } from '../../../models/names.ts';

/** The models of an execution: the one that is called first, and those that take its place, in order. */
export interface ModelsToCall {
  model: string;
  provider: string;
  fallbackModels: string[];
}

/**
 * Resolves the models of an execution. Credentials for one of them will do: a call of one without any fails at once, and the
 * next is called.
 * @param fields where the names stand in the request
 * @throws ApiError `invalid_request`: an unknown name, or no credentials for any
 */
export function modelsToCall(
  models: Models,
  { model, fallbackModels }: { model: string; fallbackModels: readonly string[] },
  fields: { model: string; fallbackModels: string },
): ModelsToCall {
  const first = at(fields.model, () => resolveModelName(model));
  const chain = new Map<string, ResolvedModel>([[first.model, first]]);
  for (const [index, name] of fallbackModels.entries()) {
    const resolved = at(`${fields.fallbackModels}.${index}`, () => resolveModelName(name));
    chain.set(resolved.model, resolved);
  }
  const names = [...chain.keys()];
  if (!names.some((name) => canBeCalled(models, name))) at(fields.model, () => models.resolve(first.model));
  return { model: first.model, provider: first.provider, fallbackModels: names.slice(1) };
}

function canBeCalled(models: Models, name: string): boolean {
  try {
    models.resolve(name);
    return true;
  } catch (error) {
    if (error instanceof ApiError) return false;
    throw error;
  }
}

/** What is wrong with a model's name is said of the field that has it. */
function at<T>(field: string, resolve: () => T): T {
  try {
    return resolve();
  } catch (error) {
    const detail = error instanceof ApiError ? error.details?.[0] : undefined;
    throw detail === undefined ? error : invalidField(field, detail.message);
  }
}
