import type { z } from 'zod';
import { Label as LabelName } from '../../domain/prompts/label.ts';
import type { EvaluatorPool } from '../../evaluators/threads/evaluator-pool.ts';
import { decodeCursor, toPage } from '../../http/pagination.ts';
import { defineRoute, type Route } from '../../http/route.ts';
import { changeLabel, type LabelRow, listLabels, MAX_PROTECTED_LABELS } from '../../services/prompts/labels.ts';
import { EXAMPLE_STEPS } from '../../services/releases/create-release.ts';
import { toReleaseSteps } from '../saved-evaluators/given-evaluators.ts';
import { Label, LabelPage, LabelParams, ListQuery, SetProtection } from './schema.ts';

const tag = 'Labels';
const example = { label: 'production', protected: true, release: null, prompts: 12 };

const presentLabel = ({ label, is_protected, policy, prompts }: LabelRow): z.input<typeof Label> => ({
  label,
  protected: is_protected,
  release: policy,
  prompts,
});

/** `/labels`: the labels of all prompts and their protection. */
export function labelRoutes({ evaluatorPool }: { evaluatorPool: EvaluatorPool }): Route[] {
  return [
    defineRoute({
      method: 'get',
      path: '/labels',
      operationId: 'listLabels',
      tag,
      summary: 'List labels on prompts and protected labels, by name',
      scope: 'read',
      query: ListQuery,
      response: LabelPage,
      responseExample: { data: [example], next_cursor: null },
      async handler({ db, query: { limit, cursor } }) {
        const after = decodeCursor(cursor, LabelName);
        return toPage(await listLabels(db.heavy.query, { after, limit }), presentLabel, ({ label }) => label);
      },
    }),
    defineRoute({
      method: 'put',
      path: '/labels/{label}',
      operationId: 'protectLabel',
      audit: ['label.protected', 'label.unprotected', 'label.policy_set', 'label.policy_removed'],
      tag,
      summary: 'Protect or unprotect a label',
      description:
        'Only keys with the scope `publish` or `admin` can move or remove a protected label, on any prompt. A version under it ' +
        'may include only prompts pinned to a version or to a protected label, at every level. Otherwise the response is a 400 that names the include, as ' +
        'it is when you unprotect a label that such an include relies on. ' +
        `A workspace can protect at most ${MAX_PROTECTED_LABELS} labels. \`release\` sets the default steps of releases on the label; with \`required\`, it moves only by ` +
        'releases. Omitted fields keep their values.',
      scope: 'admin',
      params: LabelParams,
      body: SetProtection,
      bodyExamples: {
        Protect: { protected: true },
        'Move only by releases': { release: { required: true, steps: EXAMPLE_STEPS } },
      },
      response: Label,
      responseExample: example,
      errors: ['quota_exceeded'],
      async handler(request) {
        const { protected: isProtected, release } = request.body;
        const policy = release && {
          ...release,
          steps: await toReleaseSteps(request, evaluatorPool, release.steps, 'release.steps'),
        };
        return presentLabel(await changeLabel(request.db, request.params.label, { isProtected, policy }));
      },
    }),
  ];
}
