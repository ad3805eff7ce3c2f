import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import type { Execution } from '../../api-types.ts';
import { Ago } from '../../components/ago.tsx';
import { PromptLink, StatusBadge } from '../../components/badges.tsx';
import type { Column } from '../../components/data-table.tsx';
import { type Sort, sortHead } from '../../components/sort-head.tsx';
import { formatCost, formatCount, formatMs, NONE } from '../../format.ts';
import { t } from '../../strings.ts';

/** Characters of a text in a row, which shows fewer. */
const EXCERPT_CHARACTERS = 200;

/** A text in one line, truncated. */
const excerpt = (text: string | null | undefined) => text?.slice(0, EXCERPT_CHARACTERS).replaceAll(/\s+/g, ' ').trim();

/** The request: the text, or the last message with a text. */
function askedText(input: Execution['input']): string | undefined {
  if (typeof input === 'string') return input;
  for (const { role, content } of input.toReversed()) {
    if (role === 'system') continue;
    if (typeof content === 'string') return content;
    const part = Array.isArray(content) ? content.find((each) => each.type === 'text') : undefined;
    if (part !== undefined && 'text' in part) return part.text;
  }
  return undefined;
}

function outputText({ error, output, tool_calls }: Execution): string | null | undefined {
  if (error !== null) return error.message;
  return output ?? (tool_calls.length > 0 ? tool_calls.map(({ name }) => `${name}()`).join(', ') : undefined);
}

const CREATED: Column<Execution> = {
  key: 'created',
  header: 'Created',
  width: '6rem',
  cell: (row) => (
    <Link
      from="/executions"
      to="/executions"
      search={(before) => ({ ...before, open: row.id })}
      resetScroll={false}
      data-row-link
    >
      <Ago time={row.created_at} />
    </Link>
  ),
};

/** Columns other than the creation time, which links to the execution. */
const OTHERS: readonly Column<Execution>[] = [
  {
    key: 'status',
    header: 'Status',
    width: '6rem',
    onCard: 'beside',
    cell: (row) => <StatusBadge status={row.status} />,
  },
  {
    key: 'prompt',
    header: 'Prompt',
    width: 'minmax(9rem, 2fr)',
    onCard: 'title',
    cell: (row) => <PromptLink name={row.prompt_name} version={row.prompt_version} />,
  },
  {
    key: 'input',
    header: 'Input',
    width: 'minmax(5.5rem, 2fr)',
    onCard: 'off',
    cell: (row) => <span className="muted">{excerpt(askedText(row.input))}</span>,
  },
  {
    key: 'output',
    header: 'Output',
    width: 'minmax(6rem, 3fr)',
    onCard: 'line',
    cell: (row) => <span className={row.error ? 'execution-error' : 'muted'}>{excerpt(outputText(row))}</span>,
  },
  { key: 'model', header: 'Model', width: 'minmax(9rem, 1fr)', cell: (row) => row.model },
  {
    key: 'tokens',
    header: 'Tokens',
    width: '5rem',
    alignEnd: true,
    cell: (row) => (row.tokens_unknown ? NONE : formatCount(row.tokens.total)),
  },
  { key: 'cost', header: 'Cost', width: '5.5rem', alignEnd: true, cell: (row) => formatCost(row.cost) },
  {
    key: 'latency',
    header: 'Duration',
    width: '5.5rem',
    alignEnd: true,
    cell: (row) => formatMs(row.latency.total_ms),
  },
  { key: 'queue', header: 'Queued', width: '6rem', alignEnd: true, cell: (row) => formatMs(row.latency.queue_ms) },
  { key: 'attempts', header: 'Calls', width: '4rem', alignEnd: true, cell: (row) => row.attempts },
  { key: 'label', header: 'Label', width: '7rem', cell: (row) => row.label ?? NONE },
  { key: 'finish', header: 'Finish reason', width: '8rem', cell: (row) => row.finish_reason ?? NONE },
  { key: 'error', header: 'Error', width: '10rem', cell: (row) => row.error?.code ?? NONE },
  {
    key: 'origin',
    header: 'Origin',
    width: '8rem',
    cell: (row) => (row.recorded ? t('made elsewhere') : t('made here')),
  },
  { key: 'id', header: 'Id', width: '22rem', cell: (row) => <span className="mono">{row.id}</span> },
];

const METADATA = 'metadata:';

/** A column for a metadata name. */
const metadataColumn = (key: string): Column<Execution> => {
  const name = key.slice(METADATA.length);
  return { key, header: name, width: 'minmax(7rem, 1fr)', cell: (row) => row.metadata[name] ?? NONE };
};

export const DEFAULT_COLUMNS = ['status', 'prompt', 'input', 'output', 'cost', 'latency'];

/** The available columns, including one for each metadata name of these executions. */
export function choices(rows: readonly Execution[], chosen: readonly string[]): Column<Execution>[] {
  const names = new Set(rows.flatMap(({ metadata }) => Object.keys(metadata)).map((name) => METADATA + name));
  for (const key of chosen) if (key.startsWith(METADATA)) names.add(key);
  return [...OTHERS, ...[...names].sort().map(metadataColumn)];
}

/** The name of each order. */
export const SORT_WORDS = { cost: 'cost', latency: 'duration', tokens: 'tokens' } as const;
type SortName = keyof typeof SORT_WORDS;
export type ExecutionSort = Sort<SortName>;

const isSortName = (key: string): key is SortName => key in SORT_WORDS;

/**
 * The columns by key, after the one that links to the execution. Unknown keys are ignored.
 * @param sort the order of the list; undefined for newest first
 */
export function columnsOf(
  keys: readonly string[],
  { sort, onSort }: { sort: ExecutionSort | undefined; onSort: (sort: ExecutionSort) => void },
): Column<Execution>[] {
  const found = keys.flatMap(
    (key) => OTHERS.find((each) => each.key === key) ?? (key.startsWith(METADATA) ? metadataColumn(key) : []),
  );
  const headed = found.map((column) =>
    isSortName(column.key)
      ? { ...column, ...sortHead(column.header, column.key, { sort: sort ?? '', first: 'descending', onSort }) }
      : column,
  );
  return [CREATED, ...headed];
}

const STORED_AS = 'pms-execution-columns';

function storedColumns(): string[] {
  try {
    const kept: unknown = JSON.parse(localStorage.getItem(STORED_AS) ?? 'null');
    if (Array.isArray(kept)) return kept.filter((key) => typeof key === 'string');
  } catch {
    // Nothing is stored, or nothing usable.
  }
  return DEFAULT_COLUMNS;
}

/** The columns saved in this browser, and a setter. */
export function useStoredColumns(): [readonly string[], (keys: readonly string[]) => void] {
  const [keys, setKeys] = useState<readonly string[]>(storedColumns);
  return [
    keys,
    (chosen) => {
      setKeys(chosen);
      try {
        localStorage.setItem(STORED_AS, JSON.stringify(chosen));
      } catch {
        // They last until the page is left.
      }
    },
  ];
}
