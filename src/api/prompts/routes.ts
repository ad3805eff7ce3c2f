import { z } from 'zod';
import { ApiError, invalidField } from '../../domain/errors.ts';
import type { EvaluatorPool } from '../../evaluators/threads/evaluator-pool.ts';
import { TimestampInput } from '../../http/fields.ts';
import type { Idempotency } from '../../http/idempotency.ts';
import { decodeCursor, toPage } from '../../http/pagination.ts';
import { defineRoute, type Route } from '../../http/route.ts';
import { archivePrompt, restorePrompt } from '../../services/prompts/archive.ts';
import { deleteVersion } from '../../services/prompts/delete-version.ts';
import { diffVersions } from '../../services/prompts/diff-versions.ts';
import { labelsOfPrompt, removeLabel, setLabel } from '../../services/prompts/labels.ts';
import { listPrompts, listVersions } from '../../services/prompts/list-prompts.ts';
import { withNearest } from '../../services/prompts/nearest-prompt.ts';
import {
  createVersion,
  getPrompt,
  type PromptRow,
  updatePrompt,
  versionBefore,
} from '../../services/prompts/prompts.ts';
import { resolvePrompts } from '../../services/prompts/resolve-prompts.ts';
import { checkChange } from '../../services/prompts/version.ts';
import type { Quotas } from '../../services/workspaces/quotas.ts';
import { presentListedPrompt, presentPrompt, presentResolved, presentWritten } from './presenter.ts';
import { CREATE_SAMPLES, DIFF_SAMPLE, PROMPT_SAMPLE } from './samples.ts';
import {
  CreatePrompt,
  DiffQuery,
  LabelParams,
  ListQuery,
  NameParams,
  Prompt,
  PromptLabels,
  PromptPage,
  PromptVersionPage,
  ResolvedPrompts,
  ResolvePrompts,
  SetLabel,
  UpdatePrompt,
  VersionDiff,
  VersionParams,
  VersionQuery,
  VersionsQuery,
} from './schema.ts';

/** Maximum number of missing prompts per request for which a similar name is suggested. */
const MAX_SUGGESTED = 5;

const tag = 'Prompts';

const example = PROMPT_SAMPLE;
const listedExample = { ...example, all_labels: [{ label: 'production', version: 1 }] };

const Position = z.templateLiteral([z.string(), ' ', z.string()]);

/** Sort key of a prompt in the list: the sort value and the name, which contains no space. */
function positionOf(row: PromptRow, sort: string): string {
  const column = sort.replace('-', '');
  if (column === 'created_at') return `${row.created_at.toISOString()} ${row.name}`;
  if (column === 'updated_at') return `${row.updated_at.toISOString()} ${row.name}`;
  return `${row.name} ${row.name}`;
}

function parsePosition(position: string | undefined): [string, string] | undefined {
  const [value, name] = position?.split(' ') ?? [];
  return value === undefined || name === undefined ? undefined : [value, name];
}

function positionSchema(sort: string): z.ZodType<string> {
  if (sort.endsWith('name')) return Position;
  return Position.refine((position) => TimestampInput.safeParse(position.split(' ')[0]).success);
}

/** `/prompts` and its subpaths. */
export function promptRoutes({
  idempotency,
  quotas,
  evaluatorPool,
}: {
  idempotency: Idempotency;
  quotas: Quotas;
  evaluatorPool: EvaluatorPool;
}): Route[] {
  return [
    defineRoute({
      method: 'get',
      path: '/prompts',
      operationId: 'listPrompts',
      tag,
      summary: 'List prompts',
      scope: 'read',
      query: ListQuery,
      response: PromptPage,
      responseExample: { data: [listedExample], next_cursor: null },
      async handler({ db, query }) {
        const after = parsePosition(decodeCursor(query.cursor, positionSchema(query.sort)));
        const page = await listPrompts(db, query, query.limit, after);
        return toPage(page, presentListedPrompt, (row) => positionOf(row, query.sort));
      },
    }),
    defineRoute({
      method: 'post',
      path: '/prompts',
      operationId: 'createPrompt',
      audit: ['prompt.created', 'prompt.updated'],
      tag,
      summary: 'Create a prompt, or the next version of an existing one',
      scope: 'write',
      shows: [
        'template',
        'messages',
        'tools',
        'tool_choice',
        'inputs',
        'model',
        'fallback_models',
        'parameters',
        'config',
        'commit_message',
        'created_by',
      ],
      status: 201,
      idempotent: true,
      body: CreatePrompt,
      bodyExamples: CREATE_SAMPLES,
      response: Prompt,
      responseExample: example,
      errors: ['prompt_archived', 'version_conflict', 'quota_exceeded', 'temporarily_unavailable'],
      async handler(request) {
        const { name, commit_message, base_version, ...content } = request.body;
        await checkChange(evaluatorPool, request.db.workspaceId, content);
        return idempotency.createOnce(request, async (query) => {
          const change = { ...content, commitMessage: commit_message, baseVersion: base_version };
          const row = await createVersion(query, name, change);
          if (row.version === 1) await quotas.require(query, 'prompts');
          await quotas.require(query, 'promptBytes');
          return { resourceId: row.id, response: presentWritten(row) };
        });
      },
    }),
    defineRoute({
      method: 'post',
      path: '/prompts/resolve',
      operationId: 'resolvePrompts',
      audit: 'none',
      tag,
      summary: 'Resolve many prompts, skipping unchanged ones',
      description:
        'For programs that cache prompts: one request refreshes up to 200 prompts. Each is returned with all its includes, so ' +
        'the program can fill it without calling the service.',
      scope: 'read',
      body: ResolvePrompts,
      bodyExamples: {
        'By label': { prompts: [{ name: 'support/greeting', label: 'production' }] },
        'What has changed': { prompts: [{ name: 'support/greeting', known_version: 2 }, { name: 'support/reply' }] },
      },
      response: ResolvedPrompts,
      responseExample: {
        data: [{ name: 'support/greeting', prompt: example, includes: {}, includes_hash: null }],
      },
      async handler({ db, body: { prompts } }) {
        const wanted = prompts.map(({ known_version, known_includes, ...wanted }) => ({
          ...wanted,
          knownVersion: known_version,
          knownIncludes: known_includes,
        }));
        const resolved = await resolvePrompts(db, wanted);
        let suggested = 0;
        for (const [index, each] of resolved.entries()) {
          const asked = wanted[index];
          if (!(each instanceof ApiError) || asked === undefined || suggested++ >= MAX_SUGGESTED) continue;
          const error = await withNearest(db.query, each, asked);
          if (error instanceof ApiError) resolved[index] = error;
        }
        return { data: resolved.map((each, index) => presentResolved(wanted[index]?.name ?? '', each)) };
      },
    }),
    defineRoute({
      method: 'get',
      path: '/prompts/{name}/versions',
      operationId: 'listPromptVersions',
      tag,
      summary: 'List the versions of a prompt, newest first',
      scope: 'read',
      params: NameParams,
      query: VersionsQuery,
      response: PromptVersionPage,
      responseExample: { data: [example], next_cursor: null },
      async handler({ db, params, query }) {
        const before = decodeCursor(query.cursor, z.string().regex(/^\d{1,9}$/));
        const prompt = await getPrompt(db.query, params.name);
        const page = await listVersions(db, prompt.id, query.limit, before === undefined ? undefined : Number(before));
        return toPage(page, presentPrompt, (row) => String(row.version));
      },
    }),
    defineRoute({
      method: 'delete',
      path: '/prompts/{name}/versions/{version}',
      operationId: 'deletePromptVersion',
      audit: ['prompt.version_deleted'],
      tag,
      summary: 'Delete an unused version of a prompt',
      description:
        'Cannot be undone. A version still in use returns a 400 that says why: the latest version, a version with a label, a version that another one includes by number, ' +
        'a version in an unfinished run, and a version that a schedule names cannot be deleted. The version number is never reused.',
      scope: 'admin',
      params: VersionParams,
      response: Prompt,
      responseExample: { ...example, labels: [] },
      handler: async ({ db, params }) => presentPrompt(await deleteVersion(db, params.name, params.version)),
    }),
    defineRoute({
      method: 'get',
      path: '/prompts/{name}/diff',
      operationId: 'diffPromptVersions',
      tag,
      summary: 'Compare two versions of a prompt, field by field',
      description: '`to` is the latest version by default, and `from` the newest one before `to` that was not deleted.',
      scope: 'read',
      params: NameParams,
      query: DiffQuery,
      response: VersionDiff,
      responseExample: DIFF_SAMPLE,
      async handler({ db, params, query }) {
        const after = await getPrompt(db.query, params.name, { version: query.to });
        const from = query.from ?? (await versionBefore(db.query, after));
        if (from === undefined)
          throw invalidField('from', `must be given: there is no version before ${after.version}`);
        const before = await getPrompt(db.query, params.name, { version: from });
        const changes = await diffVersions(before, after);
        return { name: after.name, from: before.version, to: after.version, changes };
      },
    }),
    defineRoute({
      method: 'get',
      path: '/prompts/{name}/labels',
      operationId: 'listPromptLabels',
      tag,
      summary: 'List the labels of a prompt and the versions they point to',
      description: 'All of them, in one page.',
      scope: 'read',
      params: NameParams,
      response: PromptLabels,
      responseExample: { data: listedExample.all_labels, next_cursor: null },
      handler: async ({ db, params }) => ({ data: await labelsOfPrompt(db.query, params.name), next_cursor: null }),
    }),
    defineRoute({
      method: 'put',
      path: '/prompts/{name}/labels/{label}',
      operationId: 'setPromptLabel',
      audit: ['label.moved'],
      tag,
      summary: 'Create or update a label',
      description:
        'A protected label (`PUT /labels/{label}`) requires `publish`, any other `write`. The version is checked like a new ' +
        'version: the label must not make its includes circular. Under a protected label they must be pinned to a ' +
        'version or to a protected label, at every level. If another prompt includes the label, the version must have a template. ' +
        'A label that moves only by releases can be moved directly only by an `admin`, with ' +
        '`override` and `reason`. No label can be moved while a release runs on it.',
      scope: ['write', 'publish'],
      params: LabelParams,
      body: SetLabel,
      bodyExamples: { 'Version 3': { version: 3 } },
      response: Prompt,
      responseExample: example,
      errors: ['prompt_archived', 'invalid_state'],
      handler: async ({ db, params, body, key }) =>
        presentPrompt(
          await setLabel(db, params.name, params.label, body.version, {
            scopes: key.scopes,
            override: body.override && { reason: body.reason ?? '' },
          }),
        ),
    }),
    defineRoute({
      method: 'delete',
      path: '/prompts/{name}/labels/{label}',
      operationId: 'removePromptLabel',
      audit: ['label.removed'],
      tag,
      summary: 'Delete a label',
      description:
        'A protected label (`PUT /labels/{label}`) requires `publish`, any other `write`. A label that a current version of another prompt ' +
        'includes cannot be removed: change that version first.',
      scope: ['write', 'publish'],
      params: LabelParams,
      response: Prompt,
      responseExample: { ...example, labels: [] },
      errors: ['prompt_archived', 'invalid_state'],
      handler: async ({ db, params, key }) => presentPrompt(await removeLabel(db, params.name, params.label, key)),
    }),
    defineRoute({
      method: 'post',
      path: '/prompts/{name}/restore',
      operationId: 'restorePrompt',
      audit: ['prompt.restored'],
      tag,
      summary: 'Restore an archived prompt',
      description:
        'Restoring a prompt that is not archived changes and records nothing. A prompt with a protected label, or that a version under a ' +
        'protected label includes, also requires `publish`.',
      scope: 'write',
      params: NameParams,
      response: Prompt,
      responseExample: example,
      handler: async ({ db, params, key }) => presentPrompt(await restorePrompt(db, params.name, key)),
    }),
    defineRoute({
      method: 'get',
      path: '/prompts/{name}',
      operationId: 'getPrompt',
      tag,
      summary: 'Retrieve a prompt: its latest version by default',
      scope: 'read',
      params: NameParams,
      query: VersionQuery,
      response: Prompt,
      responseExample: example,
      handler: async ({ db, params: { name }, query }) =>
        presentPrompt(
          await getPrompt(db.query, name, query).catch(async (error: unknown) => {
            throw await withNearest(db.query, error, { name, label: query.label });
          }),
        ),
    }),
    defineRoute({
      method: 'put',
      path: '/prompts/{name}',
      operationId: 'updatePrompt',
      audit: ['prompt.updated'],
      tag,
      summary: 'Update a prompt by creating its next version; omitted fields keep their values',
      description:
        '`template` replaces `messages`, and `messages` replaces `template`. Null removes tools, tool_choice, inputs and config.',
      scope: 'write',
      hides: ['warnings'],
      params: NameParams,
      body: UpdatePrompt,
      bodyExamples: {
        'New text': { template: 'Greet {{ name }} warmly.', commit_message: 'Warmer.' },
        'With a check for concurrent changes': { template: 'Greet {{ name }} warmly.', base_version: 1 },
      },
      response: Prompt,
      responseExample: { ...example, version: 2 },
      errors: ['prompt_archived', 'version_conflict', 'quota_exceeded', 'temporarily_unavailable'],
      async handler({ db, params, body: { commit_message, base_version, ...content } }) {
        await checkChange(evaluatorPool, db.workspaceId, content);
        const update = { ...content, commitMessage: commit_message, baseVersion: base_version };
        const row = await db.transaction(async (query) => {
          const updated = await updatePrompt(query, params.name, update);
          await quotas.require(query, 'promptBytes');
          return updated;
        });
        return presentWritten(row);
      },
    }),
    defineRoute({
      method: 'delete',
      path: '/prompts/{name}',
      operationId: 'archivePrompt',
      audit: ['prompt.archived'],
      tag,
      summary: 'Archive a prompt',
      description:
        'The prompt and its versions stay readable. Archiving an archived prompt returns the same response. A prompt with a ' +
        'protected label, or that a version under a protected label includes, also requires `publish`.',
      scope: 'write',
      params: NameParams,
      response: Prompt,
      responseExample: { ...example, archived: true },
      handler: async ({ db, params, key }) => presentPrompt(await archivePrompt(db, params.name, key)),
    }),
  ];
}
