import type { WorkspaceDatabase } from '../../db/database.ts';
import { type Page, readPage } from '../../db/read-page.ts';
import { PROMPT_COLUMNS, type PromptRow } from './prompts.ts';

export interface PromptFilter {
  /** What comes before a `/` in the name. */
  group?: string | undefined;
  /** Part of the name or the description, whatever its case. */
  q?: string | undefined;
  model?: string | undefined;
  /** Prompts that have this label; the labelled version is shown. */
  label?: string | undefined;
  archived: 'true' | 'false' | 'all';
  sort: 'name' | '-name' | 'created_at' | '-created_at' | 'updated_at' | '-updated_at';
}

/** A template names its variables, so they are no longer than it is. */
const BYTES = `2 * octet_length(template) + coalesce(octet_length(description), 0) + coalesce(octet_length(commit_message), 0)
  + pg_column_size(labels) + pg_column_size(parameters)`;

const escapeLike = (text: string) => text.replaceAll(/[\\%_]/g, '\\$&');

/** Prompts of the workspace, by default in order of name, a page of at most `limit` after `after`. */
export async function listPrompts(
  db: WorkspaceDatabase,
  filter: PromptFilter,
  limit: number,
  after: [value: string, name: string] | undefined,
): Promise<Page<PromptRow>> {
  const values: unknown[] = [];
  const bind = (value: unknown) => `$${values.push(value) + 1}`;
  const conditions = ['p.workspace_id = $1'];
  if (filter.archived !== 'all')
    conditions.push(`p.archived_at is ${filter.archived === 'true' ? 'not null' : 'null'}`);
  if (filter.group !== undefined) conditions.push(`p.name like ${bind(`${escapeLike(filter.group)}/%`)}`);
  if (filter.q !== undefined) {
    const pattern = bind(`%${escapeLike(filter.q)}%`);
    conditions.push(`(p.name ilike ${pattern} or p.description ilike ${pattern})`);
  }
  if (filter.model !== undefined) conditions.push(`v.model = ${bind(filter.model)}`);
  const version =
    filter.label === undefined || filter.label === 'latest'
      ? 'p.latest_version'
      : `(select l.version from prompt_labels l where l.prompt_id = p.id and l.label = ${bind(filter.label)})`;
  const descending = filter.sort.startsWith('-');
  const column = filter.sort.replace('-', '');
  if (after !== undefined) {
    const [value, name] = after;
    const key = column === 'name' ? bind(value) : `${bind(value)}::timestamptz`;
    conditions.push(`(p.${column}, p.name) ${descending ? '<' : '>'} (${key}, ${bind(name)})`);
  }
  const direction = descending ? 'desc' : 'asc';
  const list = {
    select: `select ${PROMPT_COLUMNS} from prompts p join prompt_versions v on v.prompt_id = p.id and v.version = ${version}
             where ${conditions.join(' and ')}`,
    orderBy: column === 'name' ? `name ${direction}` : `${column} ${direction}, name ${direction}`,
    bytes: BYTES,
  };
  return readPage<PromptRow>(db.query, list, values, limit);
}

/** All versions of one prompt, newest first, a page of at most `limit` below version `before`. */
export async function listVersions(
  db: WorkspaceDatabase,
  promptId: string,
  limit: number,
  before: number | undefined,
): Promise<Page<PromptRow>> {
  const list = {
    select: `select ${PROMPT_COLUMNS} from prompts p join prompt_versions v on v.prompt_id = p.id
             where p.workspace_id = $1 and p.id = $2 and ($3::int is null or v.version < $3)`,
    orderBy: 'version desc',
    bytes: BYTES,
  };
  return readPage<PromptRow>(db.query, list, [promptId, before ?? null], limit);
}
