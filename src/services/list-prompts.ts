import type { WorkspaceDatabase } from '../db/database.ts';
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

const escapeLike = (text: string) => text.replaceAll(/[\\%_]/g, '\\$&');

/** Prompts of the workspace, by default in order of name, `limit + 1` of them after `after`. */
export async function listPrompts(
  db: WorkspaceDatabase,
  filter: PromptFilter,
  limit: number,
  after: [value: string, name: string] | undefined,
): Promise<PromptRow[]> {
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
  return db.query<PromptRow>(
    {
      text: `select ${PROMPT_COLUMNS} from prompts p
             join prompt_versions v on v.prompt_id = p.id and v.version = ${version}
             where ${conditions.join(' and ')}
             order by p.${column} ${direction}, p.name ${direction} limit ${bind(limit + 1)}`,
    },
    values,
  );
}

/** All versions of one prompt, newest first, `limit + 1` of them below version `before`. */
export async function listVersions(
  db: WorkspaceDatabase,
  promptId: string,
  limit: number,
  before: number | undefined,
): Promise<PromptRow[]> {
  return db.query<PromptRow>(
    {
      text: `select ${PROMPT_COLUMNS} from prompts p join prompt_versions v on v.prompt_id = p.id
             where p.workspace_id = $1 and p.id = $2 and ($3::int is null or v.version < $3)
             order by v.version desc limit $4`,
    },
    [promptId, before ?? null, limit + 1],
  );
}
