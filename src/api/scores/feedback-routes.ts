import type { SystemDatabase } from '../../db/database.ts';
import type { Cipher } from '../../domain/cipher.ts';
import { invalidField } from '../../domain/errors.ts';
import { publicId } from '../../domain/ids.ts';
import { scoreValueOf } from '../../domain/scores/score.ts';
import { idParams } from '../../http/fields.ts';
import type { Idempotency } from '../../http/idempotency.ts';
import { invalidToken, tokenIn } from '../../http/middleware/token-check.ts';
import { defineRoute, type Route } from '../../http/route.ts';
import { hasWorkspace, requireExecution, requireKnownNames, storeFeedback } from '../../services/scores/feedback.ts';
import { createFeedbackToken, type GrantedSubject, readFeedbackToken } from '../../services/scores/feedback-token.ts';
import type { Quotas } from '../../services/workspaces/quotas.ts';
import {
  CreateFeedback,
  CreateFeedbackToken,
  CreateSubjectFeedbackToken,
  Feedback,
  FeedbackToken,
  SubjectFeedbackToken,
} from './schema.ts';
import { toTraceSubject } from './to-subject.ts';

const tag = 'Scores';
/** Room for a comment of 4,000 characters. */
const MAX_BODY_BYTES = 32 * 1024;

const SUBJECT = { conversation_id: 'chat-17' };

function grantOf(
  cipher: Cipher,
  workspaceId: string,
  subject: GrantedSubject,
  body: { names: readonly string[]; expires_in: number },
) {
  const names = [...new Set(body.names)];
  const expiresAt = new Date(Math.floor(Date.now() / 1000 + body.expires_in) * 1000);
  const token = createFeedbackToken(cipher, { workspaceId, subject, names, expiresAt });
  return { token, names, expires_at: expiresAt.toISOString() };
}

/** Feedback from end users: a server requests a token, and a page submits the user's feedback with it. */
export function feedbackRoutes({
  system,
  idempotency,
  quotas,
  cipher,
}: {
  system: SystemDatabase;
  idempotency: Idempotency;
  quotas: Quotas;
  cipher: Cipher;
}): Route[] {
  return [
    defineRoute({
      method: 'post',
      path: '/executions/{id}/feedback-token',
      operationId: 'createFeedbackToken',
      audit: 'none',
      tag,
      summary: 'Create a feedback token for an execution',
      description:
        'The holder can submit the named scores of this execution with `POST /feedback` until the token expires, and nothing else. The token is not stored ' +
        'and ends with the execution. Each name needs a definition or an existing score.',
      scope: ['score', 'write'],
      status: 201,
      idempotent: true,
      params: idParams('execution'),
      body: CreateFeedbackToken,
      bodyExamples: { 'For an hour': { names: ['helpful'], expires_in: 3600 } },
      response: FeedbackToken,
      responseExample: {
        token: 'pmsf_AbCd…',
        execution_id: 'exec_0198f0aa-7e5c-7c3a-9d55-0c9f6f1f2a11',
        names: ['helpful'],
        expires_at: '2026-01-31T13:00:00.000Z',
      },
      handler: (request) =>
        idempotency.createSecretOnce(request, async (query) => {
          const { db, params, body } = request;
          await requireExecution(query, params.id);
          await requireKnownNames(query, body.names);
          const { token, ...granted } = grantOf(cipher, db.workspaceId, { executionId: params.id }, body);
          return {
            resourceId: params.id,
            response: { token, execution_id: publicId('execution', params.id), ...granted },
          };
        }),
    }),
    defineRoute({
      method: 'post',
      path: '/feedback-tokens',
      operationId: 'createSubjectFeedbackToken',
      audit: 'none',
      tag,
      summary: 'Create a feedback token for a trace, a step or a conversation',
      description:
        'Like `POST /executions/{id}/feedback-token`, for a trace, a step or a conversation, which need not exist yet.',
      scope: ['score', 'write'],
      status: 201,
      idempotent: true,
      body: CreateSubjectFeedbackToken,
      bodyExamples: { 'For a conversation': { subject: SUBJECT, names: ['helpful'], expires_in: 3600 } },
      response: SubjectFeedbackToken,
      responseExample: {
        token: 'pmsf_AbCd…',
        subject: SUBJECT,
        names: ['helpful'],
        expires_at: '2026-01-31T13:00:00.000Z',
      },
      handler: (request) =>
        idempotency.createSecretOnce(request, async (query) => {
          const { db, body } = request;
          await requireKnownNames(query, body.names);
          const { token, ...granted } = grantOf(cipher, db.workspaceId, toTraceSubject(body.subject), body);
          return { resourceId: '', response: { token, subject: body.subject, ...granted } };
        }),
    }),
    defineRoute({
      method: 'post',
      path: '/feedback',
      operationId: 'createFeedback',
      audit: 'none',
      tag,
      summary: 'Submit a score with a feedback token',
      description: 'Submitting a score again replaces it.',
      scope: ['score', 'write'],
      workspaceOfToken: (token) => readFeedbackToken(cipher, token)?.workspaceId,
      status: 201,
      body: CreateFeedback,
      maxBodyBytes: MAX_BODY_BYTES,
      bodyExamples: { 'Thumbs up': { name: 'helpful', value: true } },
      response: Feedback,
      responseExample: { name: 'helpful', value: true, comment: null },
      errors: ['quota_exceeded'],
      async handler(request) {
        const { name, value, comment = null } = request.body;
        const grant = readFeedbackToken(cipher, tokenIn(request.header('Authorization')));
        if (grant === undefined || !(await hasWorkspace(system.query, grant))) throw invalidToken();
        if (!grant.names.includes(name)) throw invalidField('name', `must be one of ${grant.names.join(', ')}`);
        const row = await request.db.transaction(async (query) => {
          const stored = await storeFeedback(query, grant, { name, value, comment });
          if (stored !== undefined) await quotas.check(query, 'executionBytes');
          return stored;
        });
        if (row === undefined) throw invalidToken();
        return { name, value: scoreValueOf(row), comment: row.comment };
      },
    }),
  ];
}
