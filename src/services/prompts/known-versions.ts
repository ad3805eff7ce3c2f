import { type Expression, expressionBuilder, sql } from 'kysely';
import { LRUCache } from 'lru-cache';
import type { Query } from '../../db/database.ts';
import type { Tables } from '../../db/tables.ts';
import { getPrompt, type PromptRow, type VersionSelector, versionOfLabel } from './prompts.ts';

const MAX_BYTES = 16 * 1024 * 1024;
/** Of an entry beside its texts. */
const ENTRY_BYTES = 500;
const BYTES_OF_CHARACTER = 2;

/** What a run needs of a prompt. */
const NEEDED = [
  'id',
  'name',
  'archived_at',
  'version',
  'template',
  'messages',
  'tools',
  'tool_choice',
  'inputs',
  'model',
  'fallback_models',
  'parameters',
  'config',
] as const satisfies (keyof PromptRow)[];
export type VersionRow = Pick<PromptRow, (typeof NEEDED)[number]>;

/** That a selector still means this version: it did when this process last looked. */
export interface Assumption {
  promptId: string;
  version: number;
  /** The version that was asked for; null: a label, or the latest. */
  pinned: number | null;
  /** Null: the latest, where no version was asked for. */
  label: string | null;
}

/** A version as it was read just now, or, with an assumption, some time ago. */
export interface FoundVersion {
  prompt: VersionRow;
  /** To be proved by {@link isAsAssumed} in the statement that stores what is made from it. */
  assumption: Assumption | undefined;
}

/** Finds what a selector of a prompt means. @throws ApiError as `getPrompt` */
export type FindVersion = (query: Query, name: string, selector: VersionSelector) => Promise<FoundVersion>;

/**
 * The versions that were run last, so that a run of one need not read it: versions never change, and whether a selector still
 * means one is proved where the run is stored.
 */
export interface KnownVersions {
  of(workspaceId: string): {
    find: FindVersion;
    /** Reads it, whatever is known. */
    read: FindVersion;
  };
}

const keyOf = (workspaceId: string, name: string, { version, label }: VersionSelector) =>
  JSON.stringify([workspaceId, name, version, label]);

const jsonOf = (prompt: PromptRow) =>
  JSON.stringify(Object.fromEntries(NEEDED.map((column) => [column, prompt[column]])));

export function createKnownVersions(): KnownVersions {
  // As JSON, whose size is known: parsed, it may take many times as much.
  const known = new LRUCache<string, string>({
    maxSize: MAX_BYTES,
    sizeCalculation: (json, key) => (json.length + key.length) * BYTES_OF_CHARACTER + ENTRY_BYTES,
  });

  return {
    of(workspaceId) {
      const read: FindVersion = async (query, name, selector) => {
        const key = keyOf(workspaceId, name, selector);
        known.delete(key);
        const prompt = await getPrompt(query, name, selector);
        // What is included changes by itself.
        if (prompt.include_refs.length === 0 && prompt.archived_at === null) known.set(key, jsonOf(prompt));
        return { prompt, assumption: undefined };
      };
      const find: FindVersion = async (query, name, selector) => {
        const json = known.get(keyOf(workspaceId, name, selector));
        if (json === undefined) return read(query, name, selector);
        const prompt: VersionRow = JSON.parse(json);
        return { prompt, assumption: assumptionOf(prompt, selector) };
      };
      return { find, read };
    },
  };
}

function assumptionOf({ id, version }: VersionRow, { version: pinned, label }: VersionSelector): Assumption {
  return {
    promptId: id,
    version,
    pinned: pinned ?? null,
    label: label === undefined || label === 'latest' ? null : label,
  };
}

/** Whether there is nothing to prove, or the selector means that version of the prompt now, and the prompt can be run. */
export function isAsAssumed({
  promptId,
  version,
  pinned,
  label,
}: { [Name in keyof Assumption]: Expression<Assumption[Name] | null> }) {
  const eb = expressionBuilder<Tables>();
  const meant = eb
    .selectFrom('prompts as p')
    .select('p.id')
    .where('p.id', '=', sql<string>`${promptId}::uuid`)
    .where('p.archived_at', 'is', null)
    .where((row) => {
      const ofLabel = versionOfLabel(row, sql<string>`${label}::text`);
      const latest = sql`case when ${label}::text is null then ${row.ref('p.latest_version')} end`;
      // A version that was asked for by its number may have been deleted since.
      const asked = row
        .selectFrom('prompt_versions as v')
        .select('v.version')
        .whereRef('v.prompt_id', '=', 'p.id')
        .where('v.version', '=', sql<number>`${pinned}::int`);
      return row(
        sql`case when ${pinned}::int is null then coalesce(${ofLabel}, ${latest}) else ${asked} end`,
        '=',
        version,
      );
    });
  return eb.or([eb(sql`${promptId}::uuid`, 'is', null), eb.exists(meant)]);
}
