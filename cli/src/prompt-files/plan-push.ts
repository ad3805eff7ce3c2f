import type { Api } from 'pms-client';
import { contentOfVersion, isSameVersion } from '../prompt-version.ts';
import type { LocalPrompt } from './local-prompts.ts';
import { versionOfRecord } from './remote-prompts.ts';

/** The action of a push for a file. */
export type PushStep =
  | { kind: 'create' | 'change'; local: LocalPrompt; latest: Api.Prompt | undefined }
  | { kind: 'unchanged'; local: LocalPrompt; latest: Api.Prompt }
  | { kind: 'conflict'; local: LocalPrompt; latest: Api.Prompt; why: string };

/** The includes in the texts of a file. */
function includesOf({ prompt }: LocalPrompt): string[] {
  const texts = JSON.stringify([prompt.template, prompt.messages]);
  return [...texts.matchAll(/\{\{>[ \t]*([A-Za-z0-9._/-]+)/g)].map(([, name = '']) => name);
}

/** Orders prompts so that included ones come first. */
function inOrder(locals: readonly LocalPrompt[]): LocalPrompt[] {
  const byName = new Map(locals.map((local) => [local.prompt.name, local]));
  const ordered = new Set<LocalPrompt>();
  const visited = new Set<LocalPrompt>();
  const visit = (local: LocalPrompt) => {
    // The service rejects a cycle and reports it.
    if (visited.has(local)) return;
    visited.add(local);
    for (const name of includesOf(local)) {
      const included = byName.get(name);
      if (included !== undefined) visit(included);
    }
    ordered.add(local);
  };
  for (const local of locals) visit(local);
  return [...ordered];
}

function stepOf(local: LocalPrompt, latest: Api.Prompt | undefined, isForced: boolean): PushStep {
  const { prompt } = local;
  if (latest === undefined) return { kind: 'create', local, latest };
  if (latest.archived) return { kind: 'conflict', local, latest, why: 'the prompt is archived' };
  const isSame =
    isSameVersion(prompt, versionOfRecord(latest)) &&
    (prompt.description === undefined || prompt.description === latest.description);
  if (isSame) return { kind: 'unchanged', local, latest };
  if (isForced) return { kind: 'change', local, latest };
  const { version } = prompt;
  if (version === undefined)
    return {
      kind: 'conflict',
      local,
      latest,
      why: `the service has version ${latest.version}, and the file says of no version`,
    };
  if (version !== latest.version)
    return {
      kind: 'conflict',
      local,
      latest,
      why: `the file is of version ${version}, and the service has version ${latest.version}`,
    };
  return { kind: 'change', local, latest };
}

/**
 * Plans a push, in order.
 * @param isForced whether the files win, whatever version they were written from
 */
export function planPush(
  locals: readonly LocalPrompt[],
  latest: ReadonlyMap<string, Api.Prompt>,
  isForced: boolean,
): PushStep[] {
  return inOrder(locals).map((local) => stepOf(local, latest.get(local.prompt.name), isForced));
}

/**
 * The draft for evaluating a file without creating a version. It sets every field, so that nothing is inherited from the
 * existing version.
 */
export const draftOf = ({ prompt }: LocalPrompt): NonNullable<Api.CreateEvaluation['draft']> =>
  // The file was checked for being a version; the service checks it again.
  ({ tools: null, tool_choice: null, inputs: null, config: null, ...contentOfVersion(prompt) }) as NonNullable<
    Api.CreateEvaluation['draft']
  >;

/** The body of `POST /prompts` that creates the version of a file. */
export function bodyOf({ prompt }: LocalPrompt, message: string | undefined): Api.CreatePrompt {
  const { name, description } = prompt;
  const commitMessage = message ?? prompt.commit_message;
  const body = {
    name,
    ...contentOfVersion(prompt),
    ...(description !== undefined && { description }),
    ...(commitMessage !== undefined && { commit_message: commitMessage }),
  };
  // The file was checked for being a version; the service checks it again.
  return body as Api.CreatePrompt;
}
