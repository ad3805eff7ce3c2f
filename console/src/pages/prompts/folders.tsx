import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useMemo } from 'react';
import { namesQuery } from './names-query.ts';

/** The direct subfolders of a folder, each with its total number of prompts. */
export function foldersBelow(names: readonly string[], group: string | undefined): Map<string, number> {
  const prefix = group === undefined ? '' : `${group}/`;
  const counts = new Map<string, number>();
  for (const name of names) {
    if (!name.startsWith(prefix)) continue;
    const end = name.indexOf('/', prefix.length);
    if (end === -1) continue;
    const folder = name.slice(0, end);
    counts.set(folder, (counts.get(folder) ?? 0) + 1);
  }
  return counts;
}

/** The segments of a prompt's name are folders: the current one and its subfolders. */
export function Folders({ group }: { group: string | undefined }) {
  const { data: names } = useQuery(namesQuery);
  const folders = useMemo(() => [...foldersBelow(names ?? [], group)], [names, group]);
  if (group === undefined && folders.length === 0) return null;
  const segments = group?.split('/') ?? [];
  return (
    <nav aria-label="Folders" className="stack">
      {group !== undefined && (
        <ol className="crumbs">
          <li>
            <Link to="/prompts" search={(before) => ({ ...before, group: undefined })}>
              All prompts
            </Link>
          </li>
          {segments.map((segment, index) => {
            const path = segments.slice(0, index + 1).join('/');
            return (
              <li key={path}>
                <Link
                  to="/prompts"
                  search={(before) => ({ ...before, group: path })}
                  aria-current={path === group ? 'location' : undefined}
                >
                  {segment}
                </Link>
              </li>
            );
          })}
        </ol>
      )}
      {folders.length > 0 && (
        <ul className="row">
          {folders.map(([folder, count]) => (
            <li key={folder}>
              <Link to="/prompts" search={(before) => ({ ...before, group: folder })} className="button small">
                {folder.slice(folder.lastIndexOf('/') + 1)}/ <span className="muted">{count}</span>
              </Link>
            </li>
          ))}
        </ul>
      )}
    </nav>
  );
}
