import { useQuery } from '@tanstack/react-query';
import { EmptyState, QueryState } from '../../components/states.tsx';
import { meQuery } from '../../queries.ts';
import { knownScopes } from '../../shell/session.ts';
import { KeyTable } from './keys.tsx';

/** The personal keys of the signed-in user. */
export function MyKeys() {
  const query = useQuery(meQuery);
  return (
    <QueryState query={query} what="who you are">
      {({ member, scopes }) =>
        member === null ? (
          <EmptyState title="Only for members">
            <p>
              This session was started with a key of the workspace. Members who sign in with the identity provider have
              their own keys.
            </p>
          </EmptyState>
        ) : (
          <KeyTable path="/me/api-keys" what="My API keys" scopes={knownScopes(scopes)} />
        )
      }
    </QueryState>
  );
}
