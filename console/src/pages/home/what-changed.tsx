import { queryOptions, useQuery } from '@tanstack/react-query';
import { get, type Page } from '../../api.ts';
import { Ago } from '../../components/ago.tsx';
import { useMay } from '../../shell/session.ts';
import { Actor, type AuditEntry, AuditWords, Changed } from '../settings/audit-words.tsx';
import './home.css';

const MOST = 10;
const REFETCH_MS = 30_000;

/** The newest changes of a prompt; undefined for all prompts and releases. */
const changesQuery = (prompt: string | undefined, limit = MOST) =>
  queryOptions({
    queryKey: ['audit-log', 'changes', prompt, limit],
    queryFn: async ({ signal }) => {
      const resources = prompt === undefined ? ['prompt', 'release'] : [`prompt:${prompt}`];
      const pages = await Promise.all(
        resources.map((resource) => get<Page<AuditEntry>>('/audit-log', { resource, limit }, signal)),
      );
      return pages
        .flatMap(({ data }) => data)
        .sort((one, other) => other.created_at.localeCompare(one.created_at))
        .slice(0, limit);
    },
    refetchInterval: REFETCH_MS,
  });

/** The same, if the session may read the audit log. */
export function useChanges(prompt?: string, limit?: number) {
  const mayRead = useMay('admin');
  return useQuery({ ...changesQuery(prompt, limit), enabled: mayRead });
}

/** Who changed which labels, versions and releases, newest first. */
export function WhatChanged({ prompt }: { prompt?: string }) {
  const { data = [] } = useChanges(prompt);
  if (data.length === 0) return null;
  return (
    <section className="card" aria-label="What changed">
      <h2>What changed</h2>
      <ul className="home-items">
        {data.map((entry) => (
          <li key={entry.id} className="home-item">
            <span>
              {prompt === undefined && (
                <>
                  <Changed {...entry} />
                  {': '}
                </>
              )}
              <AuditWords {...entry} />
            </span>
            <span className="muted">
              <Actor {...entry} />, <Ago time={entry.created_at} />
            </span>
          </li>
        ))}
      </ul>
    </section>
  );
}
