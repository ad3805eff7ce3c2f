import { ApiError, invalidField } from '../../../domain/errors.ts';
import type { Models } from '../../../models/model.ts';
import { type ResolvedModel, resolveModelName } from '../../../models/names.ts';

/** The models of an execution: the one called first, and its fallbacks in order. */
export interface ModelsToCall {
  model: string;
  provider: string;
  fallbackModels: string[];
}

/**
 * Resolves the models of an execution. Credentials for one of them are enough: a call of a model without credentials fails
 * immediately, and the next model is called.
 * @param fields where the names are in the request
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

/** Reports an invalid model name at the field that contains it. */
function at<T>(field: string, resolve: () => T): T {
  try {
    return resolve();
  } catch (error) {
    const detail = error instanceof ApiError ? error.details?.[0] : undefined;
    throw detail === undefined ? error : invalidField(field, detail.message);
  }
}
