import { type Expression, expressionBuilder, sql } from 'kysely';
import { LRUCache } from 'lru-cache';
import type { Query } from '../../db/database.ts';
import type { Tables } from '../../db/tables.ts';
import { type Arm, armOf, type Rollout, type RolloutKey } from '../../domain/releases/rollout.ts';
import { type FoundPromptRow, getPrompt, type PromptRow, type VersionSelector, versionOfLabel } from './prompts.ts';

const MAX_BYTES = 16 * 1024 * 1024;
/** The size of an entry without its texts. */
const ENTRY_BYTES = 500;
const BYTES_OF_CHARACTER = 2;

/** The columns of a prompt that a run needs. */
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
type KnownRow = VersionRow & { rollout?: Rollout | null };

/** That a selector still refers to this version, as it did when this process last checked. */
export interface Assumption {
  promptId: string;
  version: number;
  /** The requested version number; null for a label or the latest. */
  pinned: number | null;
  /** Null for the latest, if no version was requested. */
  label: string | null;
  /** The active release of the label, and the share that gets its candidate; null if there is none. */
  releaseId: string | null;
  percent: number | null;
}

/** The release that decided which version to use. */
export interface DecidedBy {
  /** UUID. */
  id: string;
  arm: Arm;
  keyed: boolean;
  stage: number;
}

/** A version that was read just now or, with an assumption, some time ago. */
export interface FoundVersion {
  prompt: VersionRow;
  /** To be verified with {@link isAsAssumed} in the statement that stores what is based on it. */
  assumption: Assumption | undefined;
  /** Null if no release runs on the label, or its candidate has no share. */
  release: DecidedBy | null;
}

/** Finds the version that a selector of a prompt refers to. @throws ApiError as `getPrompt` */
export type FindVersion = (
  query: Query,
  name: string,
  selector: VersionSelector,
  /** Decides between the versions of a release. Undefined: the stable one. */
  rollout?: RolloutKey,
) => Promise<FoundVersion>;

/** The version that a selector refers to now, read in the caller's transaction: without a rollout key, no release decides. */
export const readVersion: FindVersion = async (query, name, selector) => ({
  prompt: await getPrompt(query, name, selector),
  assumption: undefined,
  release: null,
});

/**
 * A cache of recently run versions, so that running one does not have to read it. Versions never change, and whether a selector
 * still refers to one is verified when the run is stored.
 */
export interface KnownVersions {
  of(workspaceId: string): {
    find: FindVersion;
    /** Reads it without using the cache. */
    read: FindVersion;
  };
}

const keyOf = (workspaceId: string, name: string, { version, label }: VersionSelector) =>
  JSON.stringify([workspaceId, name, version, label]);

const jsonOf = (prompt: FoundPromptRow) =>
  JSON.stringify(Object.fromEntries([...NEEDED, 'rollout' as const].map((column) => [column, prompt[column]])));

export function createKnownVersions(): KnownVersions {
  // Stored as JSON, whose size is known: parsed, it may be many times as large.
  const known = new LRUCache<string, string>({
    maxSize: MAX_BYTES,
    sizeCalculation: (json, key) => (json.length + key.length) * BYTES_OF_CHARACTER + ENTRY_BYTES,
  });

  return {
    of(workspaceId) {
      const readRow = async (query: Query, name: string, selector: VersionSelector): Promise<FoundPromptRow> => {
        const key = keyOf(workspaceId, name, selector);
        known.delete(key);
        const prompt = await getPrompt(query, name, selector);
        // Included prompts change independently.
        if (prompt.include_refs.length === 0 && prompt.archived_at === null) known.set(key, jsonOf(prompt));
        return prompt;
      };
      const knownRow = (name: string, selector: VersionSelector): KnownRow | undefined => {
        const json = known.get(keyOf(workspaceId, name, selector));
        return json === undefined ? undefined : JSON.parse(json);
      };
      const decide = async (
        query: Query,
        prompt: KnownRow,
        by: RolloutKey | undefined,
        assumption: Assumption | undefined,
      ): Promise<FoundVersion> => {
        const { rollout } = prompt;
        if (!rollout || by === undefined) return { prompt, assumption, release: null };
        const { id, stage, candidate_version: version } = rollout;
        const arm = armOf(rollout, by.key);
        const release = { id, arm, keyed: by.keyed, stage };
        if (arm === 'stable' || version === prompt.version) return { prompt, assumption, release };
        // A version never changes; the label's entry shows whether the prompt is archived.
        const candidate = knownRow(prompt.name, { version }) ?? (await readRow(query, prompt.name, { version }));
        return { prompt: { ...candidate, archived_at: prompt.archived_at }, assumption, release };
      };
      const read: FindVersion = async (query, name, selector, by) =>
        decide(query, await readRow(query, name, selector), by, undefined);
      const find: FindVersion = async (query, name, selector, by) => {
        const prompt = knownRow(name, selector);
        if (prompt === undefined) return read(query, name, selector, by);
        return decide(query, prompt, by, assumptionOf(prompt, selector));
      };
      return { find, read };
    },
  };
}

function assumptionOf({ id, version, rollout }: KnownRow, { version: pinned, label }: VersionSelector): Assumption {
  return {
    promptId: id,
    version,
    pinned: pinned ?? null,
    label: label === undefined || label === 'latest' ? null : label,
    releaseId: rollout?.id ?? null,
    percent: rollout?.percent ?? null,
  };
}

/** Whether there is nothing to verify, or the selector still refers to that version of the prompt and the prompt can be run. */
export function isAsAssumed({
  promptId,
  version,
  pinned,
  label,
  releaseId,
  percent,
}: { [Name in keyof Assumption]: Expression<Assumption[Name] | null> }) {
  const eb = expressionBuilder<Tables>();
  const meant = eb
    .selectFrom('prompts as p')
    .select('p.id')
    .where('p.id', '=', sql<string>`${promptId}::uuid`)
    .where('p.archived_at', 'is', null)
    .where((row) => {
      const ofLabel = versionOfLabel(row, sql<string>`${label}::text`)
        .where(sql<boolean>`l.release_id is not distinct from ${releaseId}::uuid`)
        .where(sql<boolean>`l.percent is not distinct from ${percent}::double precision`);
      const latest = sql`case when ${label}::text is null then ${row.ref('p.latest_version')} end`;
      // A version requested by number may have been deleted since.
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
