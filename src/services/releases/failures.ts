import type { Query } from '../../db/database.ts';
import { causesOf } from '../../db/failure-causes.ts';
import { inStates } from '../../db/state-change.ts';
import { executionStates } from '../../domain/execution-states.ts';
import { type FailureCauses, MAX_FAILURE_CAUSES } from '../../domain/failures.ts';

/** The maximum number of executions of a release to examine, the newest: a release may have millions, few of which failed. */
export const EXAMINED_EXECUTIONS = 5_000;

const CAUSES = causesOf('newest.error');

/** Why executions of the candidate failed. @param query bound to the workspace */
export const readFailures = (query: Query, releaseId: string): Promise<FailureCauses> =>
  query((db) =>
    db
      .selectFrom((eb) =>
        eb
          .selectFrom('executions')
          .select(['status', 'error', 'release_arm'])
          .where('release_id', '=', releaseId)
          .orderBy('id', 'desc')
          .limit(EXAMINED_EXECUTIONS)
          .as('newest'),
      )
      .select(CAUSES.columns)
      .where('newest.release_arm', '=', 'candidate')
      .where(inStates(executionStates, ['failed'], 'newest'))
      .where('newest.error', 'is not', null)
      .groupBy(CAUSES.groups)
      .orderBy('count', 'desc')
      .orderBy('code')
      .orderBy('message')
      .limit(MAX_FAILURE_CAUSES),
  );
