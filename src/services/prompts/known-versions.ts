import { type Expression, expressionBuilder, sql } from 'kysely';
import { LRUCache } from 'lru-cache';
import type { Query } from '../../db/database.ts';
import type { Tables } from '../../db/tables.ts';
import { type Arm, armOf, type Rollout, type RolloutKey } from '../../domain/releases/rollout.ts';
import { type FoundPromptRow, getPrompt, type PromptRow, type VersionSelector, versionOfLabel } from './prompts.ts';

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
type KnownRow = VersionRow & { rollout?: Rollout | null };

/** That a selector still means this version: it did when this process last looked. */
export interface Assumption {
  promptId: string;
  version: number;
  /** The version that was asked for; null: a label, or the latest. */
  pinned: number | null;
  /** Null: the latest, where no version was asked for. */
  label: string | null;
  /** The release of the label, and the share that gets its candidate; null: there is none. */
  releaseId: string | null;
  percent: number | null;
}

/** The release that decided a version. */
export interface DecidedBy {
  /** UUID. */
  id: string;
  arm: Arm;
  keyed: boolean;
  stage: number;
}

/** A version as it was read just now, or, with an assumption, some time ago. */
export interface FoundVersion {
  prompt: VersionRow;
  /** To be proved by {@link isAsAssumed} in the statement that stores what is made from it. */
  assumption: Assumption | undefined;
  /** Null: no release runs on the label, or nobody is to get its candidate. */
  release: DecidedBy | null;
}

/** Finds what a selector of a prompt means. @throws ApiError as `getPrompt` */
export type FindVersion = (
  query: Query,
  name: string,
  selector: VersionSelector,
  /** Decides between the versions of a release. Undefined: the stable one. */
  rollout?: RolloutKey,
) => Promise<FoundVersion>;

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

const jsonOf = (prompt: FoundPromptRow) =>
  JSON.stringify(Object.fromEntries([...NEEDED, 'rollout' as const].map((column) => [column, prompt[column]])));

export function createKnownVersions(): KnownVersions {
  // As JSON, whose size is known: parsed, it may take many times as much.
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
        // What is included changes by itself.
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
        // A version never changes; whether the prompt is archived is known of its label.
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

/** Whether there is nothing to prove, or the selector means that version of the prompt now, and the prompt can be run. */
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
