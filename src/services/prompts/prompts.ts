import { type Expression, type ExpressionBuilder, sql } from 'kysely';
import type { Query } from '../../db/database.ts';
import { arrayOf, now } from '../../db/sql.ts';
import { asJson, type Builder, prepared, type RowOf } from '../../db/statement.ts';
import type { Tables } from '../../db/tables.ts';
import { ApiError, invalidField, notFound } from '../../domain/errors.ts';
import { newId } from '../../domain/ids.ts';
import { includesOf, parsePrompt } from '../../domain/prompts/prompt.ts';
import type { IncludeRef } from '../../domain/prompts/prompt-content.ts';
import type { Version } from '../../domain/prompts/prompt-version.ts';
import type { Rollout } from '../../domain/releases/rollout.ts';
import { currentAuthor } from '../audit/acting.ts';
import { recordChange } from '../audit/record-change.ts';
import { writeEvent } from '../events/write-event.ts';
import { checkIncludes } from './includes.ts';
import {
  changedFields,
  changeVersion,
  checkVersion,
  contentOf,
  EMPTY_VERSION,
  isOtherContent,
  type VersionChange,
} from './version.ts';

/**
 * Checks the version that a change is based on. Call it with the prompt's row locked, so that no other change can come in between.
 * @param base that version; 0: the prompt did not exist; undefined: any
 * @param newest the version before the one being created; 0: there is none
 * @throws ApiError `version_conflict` if there is a newer one, `invalid_request` if there is no such version yet
 */
function requireBase(name: string, base: number | undefined, newest: number): void {
  if (base === undefined || base === newest) return;
  if (base === 0)
    throw new ApiError(
      'version_conflict',
      `The prompt "${name}" already exists at version ${newest}. Choose another name, or send "base_version": ${newest} to create its next version.`,
    );
  if (base < newest)
    throw new ApiError(
      'version_conflict',
      `The prompt "${name}" is now at version ${newest}, but this change is based on version ${base}. ` +
        `Review the changes with GET /v1/prompts/${name}/diff?from=${base}&to=${newest}, and resend yours with "base_version": ${newest}.`,
    );
  throw invalidField(
    'base_version',
    newest === 0 ? `is ${base}, but the prompt does not exist yet` : `is ${base}, but the newest version is ${newest}`,
  );
}

/** Versions joined with the fields of their prompt. */
export const selectPrompts = (db: Builder) =>
  db
    .selectFrom('prompts as p')
    .innerJoin('prompt_versions as v', 'v.prompt_id', 'p.id')
    .select(['p.id', 'p.name', 'p.description', 'p.latest_version', 'p.archived_at', 'p.created_at', 'p.updated_at'])
    .select(['v.version', 'v.template', 'v.messages', 'v.tools', 'v.tool_choice', 'v.inputs', 'v.include_refs'])
    .select(['v.model', 'v.fallback_models', 'v.parameters', 'v.config', 'v.variables', 'v.commit_message', 'v.bytes'])
    .select('v.created_by')
    .select('v.created_at as version_created_at')
    .select((eb) =>
      arrayOf(
        eb
          .selectFrom('prompt_labels as l')
          .select('l.label')
          .whereRef('l.prompt_id', '=', 'p.id')
          .whereRef('l.version', '=', 'v.version')
          .orderBy('l.label'),
      ).as('labels'),
    );

/** Selects a version: a number, the version that a label points at, or the latest if neither is set. */
export interface VersionSelector {
  version?: number | undefined;
  label?: string | undefined;
}

/** A version that was read; has `rollout` if it was selected by a label. */
export type FoundPromptRow = PromptRow & { rollout?: Rollout | null };

const LATEST: VersionSelector = {};

const FIND_LATEST = prepared<{ name: string }>()((db, { name }) =>
  selectPrompts(db).where('p.name', '=', name).whereRef('v.version', '=', 'p.latest_version'),
);
const FIND_VERSION = prepared<{ name: string; version: number }>()((db, { name, version }) =>
  selectPrompts(db).where('p.name', '=', name).where('v.version', '=', version),
);
const FIND_LABEL = prepared<{ name: string; label: string }>()((db, { name, label }) =>
  selectPrompts(db)
    .innerJoin('prompt_labels as at', (join) =>
      join.onRef('at.prompt_id', '=', 'p.id').onRef('at.version', '=', 'v.version').on('at.label', '=', label),
    )
    .select(rolloutOf('at'))
    .where('p.name', '=', name),
);

/** The release that decides which version callers of the label `alias` get; null if there is none. */
export const rolloutOf = (alias: string) => {
  const column = (name: string) => sql.ref(`${alias}.${name}`);
  return sql<Rollout | null>`case when ${column('candidate')} is not null then json_build_object('id', ${column('release_id')},
    'stable_version', ${column('version')}, 'candidate_version', ${column('candidate')}, 'percent', ${column('percent')},
    'salt', ${column('salt')}, 'stage', ${column('stage')}) end`.as('rollout');
};

/** The version that a label of the prompt `p` points at. */
export const versionOfLabel = (
  eb: ExpressionBuilder<Tables & { p: Tables['prompts'] }, 'p'>,
  label: string | Expression<string>,
) =>
  eb
    .selectFrom('prompt_labels as l')
    .select('l.version')
    .whereRef('l.prompt_id', '=', 'p.id')
    .where('l.label', '=', label);

export type PromptRow = RowOf<typeof FIND_LATEST>;
export { changeVersion, contentOf, EMPTY_VERSION } from './version.ts';

function find(query: Query, name: string, { version, label }: VersionSelector): Promise<FoundPromptRow[]> {
  if (version !== undefined) return query(FIND_VERSION, { name, version });
  if (label !== undefined && label !== 'latest') return query(FIND_LABEL, { name, label });
  return query(FIND_LATEST, { name });
}

/** Whether there is a prompt of this name, archived or not. */
export const hasPrompt = async (query: Query, name: string): Promise<boolean> =>
  (await find(query, name, LATEST)).length > 0;

/**
 * Reads one version of a prompt, archived or not.
 * @throws ApiError `not_found` naming what is missing: the prompt, the version or the label
 */
export async function getPrompt(
  query: Query,
  name: string,
  selector: VersionSelector = LATEST,
): Promise<FoundPromptRow> {
  const [row] = await find(query, name, selector);
  if (row) return row;
  const [latest] = selector === LATEST ? [] : await find(query, name, LATEST);
  throw missing(name, selector, latest !== undefined);
}

/** The newest version of a prompt before this one, except deleted ones; undefined if there is none. */
export async function versionBefore(query: Query, { id, version }: PromptRow): Promise<number | undefined> {
  const [row] = await query((db) =>
    db
      .selectFrom('prompt_versions')
      .select('version')
      .where('prompt_id', '=', id)
      .where('version', '<', version)
      .orderBy('version', 'desc')
      .limit(1),
  );
  return row?.version;
}

/** `not_found` naming what is missing: the prompt, the version or the label. */
export function missing(name: string, { version, label }: VersionSelector, isPromptThere: boolean): ApiError {
  if (!isPromptThere) return notFound(`The prompt "${name}"`);
  return version === undefined
    ? notFound(`The label "${label}" of the prompt "${name}"`)
    : notFound(`Version ${version} of the prompt "${name}"`);
}

/** A new version, with the description of the prompt and a commit message. */
export interface NewVersion extends VersionChange {
  description?: string | null | undefined;
  commitMessage?: string | undefined;
  /** The version that the change is based on; 0: the prompt must be new. Default: the newest version. */
  baseVersion?: number | undefined;
}

interface Claim {
  id: string;
  version: number;
}

/** The columns of a prompt that a new version changes. */
const nextVersion = ({ description }: NewVersion) => ({
  latest_version: sql<number>`${sql.ref('prompts.latest_version')} + 1`,
  updated_at: now,
  ...(description !== undefined && { description }),
});

/** 400 `prompt_archived` */
export function archived(name: string): ApiError {
  return new ApiError(
    'prompt_archived',
    `The prompt "${name}" is archived. Restore it with POST /v1/prompts/${name}/restore to change it.`,
  );
}

/** `support/tone@3` includes `support/tone`. */
const includedName = (ref: IncludeRef) => ref.split('@', 1)[0] ?? '';

async function writeVersion(
  query: Query,
  name: string,
  claim: Claim,
  version: Version,
  { commitMessage = null, previous }: { commitMessage?: string | null | undefined; previous: PromptRow | undefined },
): Promise<PromptRow> {
  checkVersion(version);
  const content = contentOf(version);
  const id = newId();
  await query((db) =>
    db.insertInto('prompt_versions').values({
      id,
      prompt_id: claim.id,
      version: claim.version,
      template: version.template,
      messages: asJson(version.messages),
      tools: asJson(version.tools),
      tool_choice: asJson(version.tool_choice),
      inputs: asJson(version.inputs),
      model: version.model,
      fallback_models: version.fallback_models,
      parameters: asJson(version.parameters),
      config: asJson(version.config),
      variables: [],
      include_refs: includesOf(content),
      commit_message: commitMessage,
      created_by: asJson(currentAuthor()),
      created_at: now,
    }),
  );
  // Resolved after the version is stored, so that a cycle is found.
  const { names } = parsePrompt(content, await checkIncludes(query, content));
  const included = new Set(includesOf(content).map(includedName));
  if (included.size > 0)
    await query((db) =>
      db
        .insertInto('prompt_includes')
        .values([...included].map((name) => ({ prompt_id: claim.id, version: claim.version, included_name: name }))),
    );
  const bytes = Buffer.byteLength(JSON.stringify([version, names, commitMessage]));
  await query((db) =>
    db
      .updateTable('prompt_versions')
      .set({ variables: [...names], bytes })
      .where('id', '=', id),
  );
  await query((db) =>
    db
      .updateTable('prompts')
      .set((eb) => ({ stored_bytes: eb('stored_bytes', '+', bytes) }))
      .where('id', '=', claim.id),
  );
  const data = {
    prompt_name: name,
    version: claim.version,
    previous_version: previous?.version ?? null,
    model: version.model,
    commit_message: commitMessage,
  };
  await writeEvent(query, 'prompt.created', data);
  if (previous !== undefined && isOtherContent(previous, version)) await writeEvent(query, 'prompt.updated', data);
  await recordChange(query, previous === undefined ? 'prompt.created' : 'prompt.updated', name, {
    version: claim.version,
    ...(previous !== undefined && { changed: changedFields(previous, version) }),
  });
  return getPrompt(query, name, { version: claim.version });
}

/**
 * `POST /prompts`: creates the first version of a new prompt, or the next version of an existing prompt. Runs in the caller's transaction.
 * @throws ApiError `prompt_archived`, `version_conflict`, `invalid_request`
 */
export async function createVersion(
  query: Query,
  name: string,
  content: NewVersion & { model: string },
): Promise<PromptRow> {
  // The row stays locked until the transaction ends, so no version number is lost or skipped.
  const [claim] = await query((db) =>
    db
      .insertInto('prompts')
      .values({
        id: newId(),
        name,
        description: content.description ?? null,
        latest_version: 1,
        created_at: now,
        updated_at: now,
      })
      .onConflict((conflict) =>
        conflict
          .columns(['workspace_id', 'name'])
          .doUpdateSet(nextVersion(content))
          .where('prompts.archived_at', 'is', null),
      )
      .returning(['id', 'latest_version as version']),
  );
  if (!claim) throw archived(name);
  requireBase(name, content.baseVersion, claim.version - 1);
  const previous = claim.version > 1 ? await getPrompt(query, name, { version: claim.version - 1 }) : undefined;
  const version = { ...changeVersion(EMPTY_VERSION, content), model: content.model };
  return writeVersion(query, name, claim, version, { commitMessage: content.commitMessage, previous });
}

/**
 * `PUT /prompts/{name}`: creates the next version; omitted fields keep their values. Runs in the caller's transaction.
 * @throws ApiError `not_found`, `prompt_archived`, `version_conflict`, `invalid_request`
 */
export async function updatePrompt(query: Query, name: string, content: NewVersion): Promise<PromptRow> {
  const [claim] = await query((db) =>
    db
      .updateTable('prompts')
      .set(nextVersion(content))
      .where('name', '=', name)
      .where('archived_at', 'is', null)
      .returning(['id', 'latest_version as version']),
  );
  if (!claim) {
    await getPrompt(query, name);
    throw archived(name);
  }
  requireBase(name, content.baseVersion, claim.version - 1);
  const previous = await getPrompt(query, name, { version: claim.version - 1 });
  const version = { ...changeVersion(previous, content), model: content.model ?? previous.model };
  return writeVersion(query, name, claim, version, { commitMessage: content.commitMessage, previous });
}
