import { z } from 'zod';
import { publicId, traceUuid } from '../../domain/ids.ts';
import { allows } from '../../domain/scopes.ts';
import { MAX_SCORES_AT_ONCE } from '../../domain/scores/score.ts';
import type { Idempotency } from '../../http/idempotency.ts';
import { decodeCursor, toPage } from '../../http/pagination.ts';
import { defineRoute, RawResponse, type Route } from '../../http/route.ts';
import type { AuthenticatedKey } from '../../services/access/authenticate.ts';
import { holderOf } from '../../services/members/holder.ts';
import { deleteScore, eachScorePage, listScores } from '../../services/scores/scores.ts';
import { type ScoreToStore, storeScores } from '../../services/scores/store-scores.ts';
import { type ScoreSummary as SummaryRow, summarizeScores } from '../../services/scores/summarize-scores.ts';
import type { Quotas } from '../../services/workspaces/quotas.ts';
import { presentScore } from './presenter.ts';
import { scoreBodies, scoreSample, summarySample } from './samples.ts';
import {
  CreatedScores,
  CreateScores,
  DEFAULT_DAYS,
  ListQuery,
  type NewScore,
  Score,
  ScorePage,
  ScoreParams,
  ScoreSummary,
  SummaryQuery,
} from './schema.ts';
import { scoresAsCsv } from './scores-csv.ts';
import { toSubject } from './to-subject.ts';

const tag = 'Scores';
const DAY_MS = 24 * 60 * 60 * 1_000;

function toScore(key: AuthenticatedKey, given: z.output<typeof NewScore>): ScoreToStore {
  const { data_type: dataType, subject, source, evaluator, ...score } = given;
  const bySource = source ?? (key.sessionId === undefined ? 'api' : 'person');
  return {
    ...score,
    dataType,
    subject: toSubject(subject),
    source: evaluator === undefined ? bySource : 'evaluator',
    evaluator,
    author: holderOf(key),
  };
}

const presentSummary = ({ release_id: id, ...row }: SummaryRow): z.input<typeof ScoreSummary>['data'][number] => ({
  ...row,
  ...(id !== undefined && { release_id: id === null ? null : publicId('release', id) }),
});

const ScorePosition = z.string().regex(/^\d{1,15} [0-9a-f-]{36}$/);

function decodePosition(cursor: string | undefined) {
  const [time, id] = decodeCursor(cursor, ScorePosition)?.split(' ') ?? [];
  return time === undefined || id === undefined ? undefined : { createdAt: new Date(Number(time)), id };
}

/** `/scores` */
export function scoreRoutes({ idempotency, quotas }: { idempotency: Idempotency; quotas: Quotas }): Route[] {
  return [
    defineRoute({
      method: 'post',
      path: '/scores',
      operationId: 'createScores',
      audit: ['score.deleted'],
      tag,
      summary: 'Store one score, or up to 1,000',
      description:
        `One score, or \`scores\` with up to ${MAX_SCORES_AT_ONCE}: all of them are stored, or none. A score whose \`id\` exists replaces the stored one; only its author or an \`admin\` can do that. ` +
        'Values that do not match the definition of their name are rejected. A name without a definition takes the type of its first value.',
      scope: ['score', 'write'],
      shows: ['value', 'author', 'evaluator', 'comment', 'metadata'],
      status: 201,
      idempotent: true,
      body: CreateScores,
      bodyExamples: scoreBodies,
      response: CreatedScores,
      responseExample: scoreSample,
      errors: ['not_found', 'quota_exceeded'],
      handler: (request) =>
        idempotency.createOnce(request, async (query) => {
          const { body, key } = request;
          await quotas.check(query, 'executionBytes');
          const isList = 'scores' in body;
          const scores = (isList ? body.scores : [body]).map((score) => toScore(key, score));
          const replaces = allows(key.scopes, 'admin') ? 'any' : 'own';
          const rows = await storeScores(query, scores, isList ? undefined : () => '', replaces);
          const presented = rows.map(presentScore);
          return { resourceId: rows[0]?.id ?? '', response: isList ? { data: presented } : presented[0] };
        }),
    }),
    defineRoute({
      method: 'get',
      path: '/scores',
      operationId: 'listScores',
      tag,
      summary: 'List scores, newest first',
      scope: 'read',
      query: ListQuery,
      response: ScorePage,
      responseExample: { data: [scoreSample], next_cursor: null },
      otherContentTypes: ['text/csv'],
      async handler({ db, query }) {
        const { limit, cursor, format, execution_id, evaluation_id, example_id, prompt_name, ...others } = query;
        const { trace_id: trace, span_id: spanId, conversation_id: conversationId, ...rest } = others;
        const ids = { executionId: execution_id, evaluationId: evaluation_id, exampleId: example_id };
        const ofTrace = { traceId: trace && traceUuid(trace), spanId, conversationId };
        const filter = { ...rest, ...ids, ...ofTrace, promptName: prompt_name };
        if (format === 'csv')
          return new RawResponse('text/csv', scoresAsCsv(eachScorePage(db.heavy.query, filter)), {
            'Content-Disposition': 'attachment; filename="scores.csv"',
          });
        const page = await listScores(db.query, filter, limit, decodePosition(cursor));
        return toPage(page, presentScore, ({ created_at: at, id }) => `${at.getTime()} ${id}`);
      },
    }),
    defineRoute({
      method: 'get',
      path: '/scores/summary',
      operationId: 'summarizeScores',
      tag,
      summary: 'Summarize scores by prompt, version, label, arm and day',
      description: 'Counts, means, shares and categories by name and by the fields in `group_by`.',
      scope: 'read',
      query: SummaryQuery,
      response: ScoreSummary,
      responseExample: summarySample,
      async handler({ db, query: { prompt_name: promptName, group_by: groups, ...query } }) {
        const until = query.until ?? new Date();
        const since = query.since ?? new Date(until.getTime() - DEFAULT_DAYS * DAY_MS);
        const rows = await summarizeScores(db.heavy.query, { ...query, promptName, since, until }, groups);
        return { data: rows.map(presentSummary), since: since.toISOString(), until: until.toISOString() };
      },
    }),
    defineRoute({
      method: 'delete',
      path: '/scores/{id}',
      operationId: 'deleteScore',
      audit: ['score.deleted'],
      tag,
      summary: 'Delete a score',
      scope: ['score', 'write'],
      params: ScoreParams,
      response: Score,
      responseExample: scoreSample,
      handler: async ({ db, params }) => presentScore(await deleteScore(db, params.id)),
    }),
  ];
}
