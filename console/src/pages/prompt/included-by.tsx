import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { PromptLink } from '../../components/badges.tsx';
import { QueryState } from '../../components/states.tsx';
import { includedByQuery } from '../../queries.ts';

/** The prompts that include this one, and so change with it. */
export function IncludedBy({ name, lead, none }: { name: string; lead: string; none?: string }) {
  return (
    <QueryState query={useQuery(includedByQuery(name))} what="what includes it">
      {({ data, next_cursor: next }) =>
        data.length === 0 ? (
          none && <p className="muted">{none}</p>
        ) : (
          <p className="row">
            <span className="muted">{lead}</span>
            {data.map((each) => (
              <PromptLink key={each.name} name={each.name} />
            ))}
            {next !== null && (
              <Link to="/prompts" search={{ includes: name }}>
                and more
              </Link>
            )}
          </p>
        )
      }
    </QueryState>
  );
}
