import type { QueryClient } from '@tanstack/react-query';
import type { useNavigate } from '@tanstack/react-router';
import { get, type Page, pathOf } from '../api.ts';
import { t } from '../strings.ts';
import { navigation } from './navigation.ts';
import { chooseTheme, type Theme } from './theme.ts';

/** An entry of the command palette. */
export interface Command {
  id: string;
  label: string;
  /** Its kind, if the label does not tell. */
  detail?: string;
  /** Additional search terms. */
  words?: string;
  run: () => unknown;
}

export interface CommandGroup {
  value: string;
  items: Command[];
}

type Navigate = ReturnType<typeof useNavigate>;

/** Maximum age of cached object names. */
const STALE_MS = 30_000;
/** Maximum number of objects of a kind: typing narrows them down. */
const MOST_SHOWN = 8;

const THEMES: Record<Theme, string> = {
  light: t('Light theme'),
  dark: t('Dark theme'),
  system: t('Theme of the system'),
};

/** The pages and actions that the session is allowed to use. */
export function fixedCommands(
  navigate: Navigate,
  may: (scope: 'write' | 'execute' | 'publish') => boolean,
): CommandGroup[] {
  const actions: (Command | false)[] = [
    may('write') && {
      id: 'new-prompt',
      label: 'New prompt…',
      run: () => navigate({ to: '/prompts', search: { dialog: 'new' } }),
    },
    may('execute') && {
      id: 'new-evaluation',
      label: 'New evaluation…',
      words: t('run test judge'),
      run: () => navigate({ to: '/evaluations/new' }),
    },
    may('execute') && {
      id: 'new-improvement',
      label: 'New improvement…',
      words: t('optimize prompt'),
      run: () => navigate({ to: '/improvements/new' }),
    },
    may('publish') && {
      id: 'new-release',
      label: 'New release…',
      words: t('deploy canary label'),
      run: () => navigate({ to: '/releases/new' }),
    },
    may('execute') && { id: 'new-schedule', label: 'New schedule…', run: () => navigate({ to: '/schedules/new' }) },
    { id: 'docs', label: 'API documentation', run: () => window.location.assign('/docs') },
    ...Object.entries(THEMES).map(([theme, label]) => ({
      id: `theme-${theme}`,
      label,
      run: () => chooseTheme(theme as Theme),
    })),
  ];
  return [
    {
      value: t('Pages'),
      items: navigation.flatMap(({ title, pages }) =>
        pages.map(({ label, link }) => ({ id: link.to, label, words: title, run: () => navigate(link) })),
      ),
    },
    { value: t('Actions'), items: actions.filter((each) => each !== false) },
  ];
}

const matches = (name: string, typed: string) => name.toLowerCase().includes(typed.toLowerCase());

const TRACE_ID = /^[0-9a-f]{32}$/;

/** The target of an id: a trace, or by its prefix. */
function byId(navigate: Navigate, id: string): Command | undefined {
  const openTrace = TRACE_ID.test(id) ? () => navigate({ to: '/traces/$id', params: { id } }) : undefined;
  const open =
    openTrace ??
    new Map([
      ['exec', () => navigate({ to: '/executions/$id', params: { id } })],
      ['eval', () => navigate({ to: '/evaluations/$id', params: { id } })],
      ['imp', () => navigate({ to: '/improvements/$id', params: { id } })],
      ['rel', () => navigate({ to: '/releases/$id', params: { id } })],
    ]).get(/^([a-z]+)_[\w-]+$/.exec(id)?.[1] ?? '');
  return open && { id, label: id, detail: 'open by its id', run: open };
}

/**
 * Objects whose name contains the input, and the one with that id.
 * @throws ApiError if a list cannot be read
 */
export async function foundCommands(client: QueryClient, navigate: Navigate, typed: string): Promise<CommandGroup[]> {
  // Lists that cannot be searched are read once, not for each letter.
  const named = async (path: string, query: Record<string, string | number> = { limit: 1000 }) => {
    const { data } = await client.fetchQuery({
      queryKey: ['palette', path, query],
      queryFn: ({ signal }) => get<Page<{ name: string }>>(path, query, signal),
      staleTime: STALE_MS,
    });
    return data.map(({ name }) => name).filter((name) => matches(name, typed));
  };
  const [prompts, datasets, queues, monitors, rules] = await Promise.all([
    named('/prompts', { q: typed, limit: MOST_SHOWN }),
    named('/datasets'),
    named('/queues'),
    named('/monitors'),
    named('/rules'),
  ]);
  const group = (value: string, names: string[], open: (name: string) => unknown): CommandGroup => ({
    value,
    items: names.slice(0, MOST_SHOWN).map((name) => ({ id: pathOf(value, name), label: name, run: () => open(name) })),
  });
  const id = byId(navigate, typed);
  return [
    ...(id ? [{ value: t('By id'), items: [id] }] : []),
    group(t('Prompts'), prompts, (_splat) => navigate({ to: '/prompts/$', params: { _splat } })),
    group(t('Datasets'), datasets, (_splat) => navigate({ to: '/datasets/$', params: { _splat } })),
    group(t('Queues'), queues, (_splat) => navigate({ to: '/queues/$', params: { _splat } })),
    group(t('Monitors'), monitors, (_splat) => navigate({ to: '/monitors/$', params: { _splat } })),
    group(t('Rules'), rules, (_splat) => navigate({ to: '/rules/$', params: { _splat } })),
  ].filter(({ items }) => items.length > 0);
}
