import type { Query, WorkspaceDatabase } from '../../db/database.ts';
import { ApiError, notFound } from '../../domain/errors.ts';
import { newId } from '../../domain/ids.ts';
import type { ModelParameters } from '../../domain/parameters.ts';
import { parseTemplate } from '../../domain/template.ts';
import { writeEvent } from '../events/write-event.ts';

/** One version of a prompt together with what belongs to the prompt as a whole. */
export interface PromptRow {
  id: string;
  name: string;
  description: string | null;
  latest_version: number;
  archived_at: Date | null;
  created_at: Date;
  updated_at: Date;
  version: number;
  template: string;
  model: string;
  parameters: ModelParameters;
  variables: string[];
  commit_message: string | null;
  version_created_at: Date;
  labels: string[];
}

/** Columns of {@link PromptRow} from `prompts p` and `prompt_versions v`. */
export const PROMPT_COLUMNS = `p.id, p.name, p.description, p.latest_version, p.archived_at, p.created_at, p.updated_at,
  v.version, v.template, v.model, v.parameters, v.variables, v.commit_message, v.created_at as version_created_at,
  array(select l.label from prompt_labels l where l.prompt_id = p.id and l.version = v.version order by l.label) as labels`;

/** Which version is meant: a number, what a label points at, or (neither) the latest. */
export interface VersionSelector {
  version?: number | undefined;
  label?: string | undefined;
}

const findBy = (name: string, versionIs: string) => ({
  name,
  text: `select ${PROMPT_COLUMNS} from prompts p join prompt_versions v on v.prompt_id = p.id and v.version = ${versionIs}
         where p.workspace_id = $1 and p.name = $2`,
});
const FIND_LATEST = findBy('find-prompt-latest', 'p.latest_version');
const FIND_VERSION = findBy('find-prompt-version', '$3::int');
const FIND_LABEL = findBy(
  'find-prompt-label',
  '(select l.version from prompt_labels l where l.prompt_id = p.id and l.label = $3)',
);

function selection(selector: VersionSelector): { statement: typeof FIND_LATEST; values: (string | number)[] } {
  if (selector.version !== undefined) return { statement: FIND_VERSION, values: [selector.version] };
  if (selector.label !== undefined && selector.label !== 'latest')
    return { statement: FIND_LABEL, values: [selector.label] };
  return { statement: FIND_LATEST, values: [] };
}

/**
 * Reads one version of a prompt, archived or not.
 * @throws ApiError `not_found` naming what is missing: the prompt, the version or the label
 */
export async function getPrompt(query: Query, name: string, selector: VersionSelector = {}): Promise<PromptRow> {
  const { statement, values } = selection(selector);
  const [row] = await query<PromptRow>(statement, [name, ...values]);
  if (row) return row;
  if (statement === FIND_LATEST) throw notFound(`The prompt "${name}"`);
  await getPrompt(query, name);
  throw selector.version === undefined
    ? notFound(`The label "${selector.label}" of the prompt "${name}"`)
    : notFound(`Version ${selector.version} of the prompt "${name}"`);
}

/** What a new version says. Fields left out keep the value of the version before. */
export interface VersionContent {
  template?: string | undefined;
  model?: string | undefined;
  parameters?: ModelParameters | undefined;
  description?: string | null | undefined;
  commitMessage?: string | undefined;
}

export type CompleteContent = VersionContent & { template: string; model: string; parameters: ModelParameters };

interface Claim {
  id: string;
  version: number;
}

/** Takes the next version number of a prompt. The row stays locked until the transaction ends, so none is lost or left out. */
const CLAIM_NEXT = {
  text: `update prompts set latest_version = latest_version + 1, updated_at = now(),
           description = case when $3 then $4 else description end
         where workspace_id = $1 and name = $2 and archived_at is null
         returning id, latest_version as version`,
};
const CLAIM_FIRST_OR_NEXT = {
  text: `insert into prompts as p (workspace_id, name, id, description, latest_version, created_at, updated_at)
         values ($1, $2, $5, $4, 1, now(), now())
         on conflict (workspace_id, name) do update set latest_version = p.latest_version + 1, updated_at = now(),
           description = case when $3 then $4 else p.description end
         where p.archived_at is null
         returning id, latest_version as version`,
};
const INSERT_VERSION = {
  text: `insert into prompt_versions
           (workspace_id, id, prompt_id, version, template, model, parameters, variables, commit_message, created_at)
         values ($1, $2, $3, $4, $5, $6, $7, $8, $9, now())`,
};

function archived(name: string): ApiError {
  return new ApiError(
    'prompt_archived',
    `The prompt "${name}" is archived. Restore it with POST /v1/prompts/${name}/restore to change it.`,
  );
}

async function writeVersion(
  query: Query,
  name: string,
  claim: Claim,
  content: CompleteContent,
  previous: PromptRow | undefined,
): Promise<PromptRow> {
  const commitMessage = content.commitMessage ?? null;
  await query(INSERT_VERSION, [
    newId(),
    claim.id,
    claim.version,
    content.template,
    content.model,
    content.parameters,
    parseTemplate(content.template).names,
    commitMessage,
  ]);
  const data = {
    prompt_name: name,
    version: claim.version,
    previous_version: previous?.version ?? null,
    model: content.model,
    commit_message: commitMessage,
  };
  await writeEvent(query, 'prompt.created', data);
  if (previous !== undefined && previous.template !== content.template) await writeEvent(query, 'prompt.updated', data);
  return getPrompt(query, name, { version: claim.version });
}

/**
 * `POST /prompts`: the first version of a new prompt, or the next one of a prompt that exists. Runs in the caller's transaction.
 * @throws ApiError `prompt_archived`
 */
export async function createVersion(query: Query, name: string, content: CompleteContent): Promise<PromptRow> {
  const [claim] = await query<Claim & { id: string }>(CLAIM_FIRST_OR_NEXT, [
    name,
    content.description !== undefined,
    content.description ?? null,
    newId(),
  ]);
  if (!claim) throw archived(name);
  const previous = claim.version > 1 ? await getPrompt(query, name, { version: claim.version - 1 }) : undefined;
  return writeVersion(query, name, claim, content, previous);
}

/**
 * `PUT /prompts/{name}`: the next version; fields left out keep their value. Runs in the caller's transaction.
 * @throws ApiError `not_found`, `prompt_archived`
 */
export async function updatePrompt(query: Query, name: string, content: VersionContent): Promise<PromptRow> {
  const [claim] = await query<Claim>(CLAIM_NEXT, [
    name,
    content.description !== undefined,
    content.description ?? null,
  ]);
  if (!claim) {
    await getPrompt(query, name);
    throw archived(name);
  }
  const previous = await getPrompt(query, name, { version: claim.version - 1 });
  const complete = {
    ...content,
    template: content.template ?? previous.template,
    model: content.model ?? previous.model,
    parameters: content.parameters ?? previous.parameters,
  };
  return writeVersion(query, name, claim, complete, previous);
}

/**
 * Archives or restores a prompt; doing it again changes nothing.
 * @throws ApiError `not_found`
 */
export async function setArchived(db: WorkspaceDatabase, name: string, archive: boolean): Promise<PromptRow> {
  await db.query(
    {
      text: `update prompts set archived_at = case when $3 then now() end, updated_at = now()
             where workspace_id = $1 and name = $2 and (archived_at is null) = $3`,
    },
    [name, archive],
  );
  return getPrompt(db.query, name);
}

/**
 * Points a label at a version, moving it if it is elsewhere.
 * @throws ApiError `not_found`, `prompt_archived`
 */
export async function setLabel(
  db: WorkspaceDatabase,
  name: string,
  label: string,
  version: number,
): Promise<PromptRow> {
  return db.transaction(async (query) => {
    const row = await getPrompt(query, name, { version });
    if (row.archived_at !== null) throw archived(name);
    await query(
      {
        text: `insert into prompt_labels (workspace_id, id, prompt_id, label, version, updated_at)
               values ($1, $2, $3, $4, $5, now())
               on conflict (prompt_id, label) do update set version = excluded.version, updated_at = now()`,
      },
      [newId(), row.id, label, version],
    );
    return getPrompt(query, name, { version });
  });
}

/**
 * Takes a label away and gives the prompt as it is then.
 * @throws ApiError `not_found` also where the prompt has no such label, `prompt_archived`
 */
export async function removeLabel(db: WorkspaceDatabase, name: string, label: string): Promise<PromptRow> {
  return db.transaction(async (query) => {
    const row = await getPrompt(query, name, { label });
    if (row.archived_at !== null) throw archived(name);
    await query({ text: 'delete from prompt_labels where workspace_id = $1 and prompt_id = $2 and label = $3' }, [
      row.id,
      label,
    ]);
    return getPrompt(query, name, { version: row.version });
  });
}
