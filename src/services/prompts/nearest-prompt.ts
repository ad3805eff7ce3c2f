import { distance } from 'fastest-levenshtein';
import type { Query } from '../../db/database.ts';
import { ApiError } from '../../domain/errors.ts';
import type { VersionSelector } from './prompts.ts';

/** The maximum number of names to compare, so that a request for a missing prompt takes milliseconds. */
const MAX_NAMES = 1_000;
/** The maximum difference in length of a name, in characters. */
const MAX_DIFFERENCE = 3;

interface Asked extends VersionSelector {
  name: string;
}

/** The candidate with the fewest edits; undefined if each needs more than a third of the text. */
function nearestTo(text: string, candidates: readonly string[]): string | undefined {
  let nearest: string | undefined;
  let fewest = Math.min(MAX_DIFFERENCE, Math.floor(text.length / 3)) + 1;
  for (const candidate of candidates) {
    const edits = distance(text.toLowerCase(), candidate.toLowerCase());
    if (edits < fewest) [nearest, fewest] = [candidate, edits];
  }
  return nearest;
}

async function nearestName(query: Query, name: string): Promise<string | undefined> {
  const rows = await query((db) =>
    db
      .selectFrom('prompts')
      .select('name')
      .where('archived_at', 'is', null)
      .where((eb) =>
        eb.between(eb.fn<number>('length', ['name']), name.length - MAX_DIFFERENCE, name.length + MAX_DIFFERENCE),
      )
      .orderBy('name')
      .limit(MAX_NAMES),
  );
  return nearestTo(
    name,
    rows.map((row) => row.name),
  );
}

/** The nearest label of a prompt; undefined if the label exists. */
async function nearestLabel(query: Query, promptId: string, label: string): Promise<string | undefined> {
  const rows = await query((db) =>
    db.selectFrom('prompt_labels').select('label').where('prompt_id', '=', promptId).limit(MAX_NAMES),
  );
  const labels = rows.map((row) => row.label);
  return labels.includes(label) ? undefined : nearestTo(label, labels);
}

/**
 * The error for a missing prompt or label, extended by the nearest name. Only for callers that may read names, because it discloses them.
 * @returns the error unchanged if it is about something else or no name is near
 */
export async function withNearest(query: Query, error: unknown, { name, label }: Asked): Promise<unknown> {
  if (!(error instanceof ApiError) || error.code !== 'not_found') return error;
  const [prompt] = await query((db) => db.selectFrom('prompts').select('id').where('name', '=', name));
  const nearest =
    prompt === undefined
      ? await nearestName(query, name)
      : label === undefined
        ? undefined
        : await nearestLabel(query, prompt.id, label);
  return nearest === undefined
    ? error
    : new ApiError('not_found', `${error.message} Did you mean "${nearest}"?`, { cause: error });
}
