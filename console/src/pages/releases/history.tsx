import { MemberName } from '../../components/member-name.tsx';
import { Section } from '../../components/section.tsx';
import { formatTime, NONE } from '../../format.ts';
import { stepTitle } from './in-words.ts';
import { stepsOf } from './queries.ts';
import { ReleaseBadge } from './release-badge.tsx';
import type { Release } from './types.ts';

interface Entry {
  at: string;
  step: number;
  what: string;
  by: Release['created_by'];
  comment: string | null;
}

/** The person: a member by name, whatever the key. */
export const Person = ({ member_id, name }: Pick<Release['created_by'], 'member_id' | 'name'>) =>
  member_id ? <MemberName id={member_id} fallback={name} /> : name;

/** Decisions and approvals, newest first. */
export function History({ release }: { release: Release }) {
  const steps = stepsOf(release);
  const entries: Entry[] = [
    ...release.decisions.map(({ at, step, verdict, by, comment }) => ({ at, step, what: verdict, by, comment })),
    ...release.approvals.map(({ at, step, by, comment }) => ({ at, step, what: 'approved', by, comment })),
  ];
  // An approval can also be among the decisions.
  const seen = new Set<string>();
  const once = entries
    .filter(({ at, step, what, by }) => {
      const key = `${at.slice(0, 19)} ${step} ${what} ${by.key_id}`;
      return !seen.has(key) && seen.add(key);
    })
    .sort((one, other) => other.at.localeCompare(one.at));
  return (
    <Section id="history" title="History">
      <div className="release-scroll" tabIndex={0} role="region" aria-label="History of the release">
        <table className="simple-table">
          <thead>
            <tr>
              <th scope="col">When</th>
              <th scope="col">Decision</th>
              <th scope="col">Step</th>
              <th scope="col">By</th>
              <th scope="col">Comment</th>
            </tr>
          </thead>
          <tbody>
            {once.map((entry) => {
              const step = steps[entry.step];
              return (
                <tr key={`${entry.at} ${entry.what} ${entry.step} ${entry.by.key_id}`}>
                  <td>{formatTime(entry.at)}</td>
                  <td>
                    <ReleaseBadge status={entry.what} />
                  </td>
                  <td>{step && `${entry.step + 1}. ${stepTitle(step)}`}</td>
                  <td>{entry.by.key_id === null ? 'the service' : <Person {...entry.by} />}</td>
                  <td>{entry.comment ?? NONE}</td>
                </tr>
              );
            })}
            <tr>
              <td>{formatTime(release.created_at)}</td>
              <td>
                <span className="badge">started</span>
              </td>
              <td />
              <td>
                <Person {...release.created_by} />
              </td>
              <td>{release.reason ?? NONE}</td>
            </tr>
          </tbody>
        </table>
      </div>
    </Section>
  );
}
