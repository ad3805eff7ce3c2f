import { newId, publicId } from '../../../src/domain/ids.ts';
import { type Call, createCall, type TestService } from '../../support/service.ts';
import { createKey } from '../workspace.ts';

/** Copies an execution as if it had run so often. @returns public ids, oldest first */
export async function copyExecutions(service: TestService, id: string, count: number): Promise<string[]> {
  const ids = Array.from({ length: count }, newId);
  await service.dependencies.db.system.query(
    {
      text: `with copied as (
               select e, given.id from executions e, unnest($2::uuid[]) as given (id) where e.id = $1
             ) insert into executions (id, workspace_id, prompt_name, prompt_version, model, provider, parameters, variables, input, metadata, status,
                 output, created_at, accepted_at, started_at, answered_at, finished_at)
             select id, (e).workspace_id, (e).prompt_name, (e).prompt_version, (e).model, (e).provider, (e).parameters, (e).variables, (e).input,
               (e).metadata, 'completed', (e).output, (e).created_at, (e).accepted_at, (e).started_at, (e).answered_at, (e).finished_at from copied`,
    },
    [id.replace('exec_', ''), ids],
  );
  return ids.map((uuid) => publicId('execution', uuid));
}

/** A number of reviewers, each with a separate key. */
export async function reviewers(service: TestService, count: number): Promise<{ id: string; call: Call }[]> {
  const keys = await Promise.all(Array.from({ length: count }, () => createKey(service, 'score', 'read')));
  return keys.map(({ id, key }) => ({ id, call: createCall(service.origin, key) }));
}

/** As if 15 minutes had passed for every lease. */
export async function endLeases(service: TestService): Promise<void> {
  await service.dependencies.db.system.query({
    text: `update queue_reviews set leased_until = now() - interval '1 second' where outcome is null`,
  });
}
