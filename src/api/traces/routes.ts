import { z } from 'zod';
import { notFound } from '../../domain/errors.ts';
import { traceUuid } from '../../domain/ids.ts';
import { decodeCursor, encodeCursor, toPage } from '../../http/pagination.ts';
import { defineRoute, type Route } from '../../http/route.ts';
import { scoresOf } from '../../services/scores/scores.ts';
import type { ScoreRow } from '../../services/scores/store-scores.ts';
import { deleteConversation, deleteTrace } from '../../services/traces/delete-traces.ts';
import { getStep, listSteps } from '../../services/traces/steps.ts';
import {
  getTrace,
  listTraces,
  listTurns,
  sumUpConversations,
  type TraceFilter,
  type TracePosition,
} from '../../services/traces/traces.ts';
import { REPEATABLE } from '../executions/filter-schema.ts';
import { presentScore } from '../scores/presenter.ts';
import { presentConversation, presentStep, presentTrace, presentWholeStep } from './presenter.ts';
import { conversationSample, stepSample, traceSample, wholeStepSample } from './samples.ts';
import {
  ConversationPage,
  ConversationParams,
  ConversationsQuery,
  DeletedConversation,
  EXAMINES,
  StepParams,
  StepsQuery,
  Trace,
  TracePage,
  TraceParams,
  TraceStepPage,
  TracesQuery,
  TurnsQuery,
  WholeConversation,
  WholeTraceStep,
} from './schema.ts';

const tag = 'Traces';

const Position = z
  .string()
  .regex(/^\d{4}-\d{2}-\d{2}T[\d:.]+Z [0-9a-f-]{36}$/)
  .refine((text) => !Number.isNaN(Date.parse(text.slice(0, 24))));

function toPosition(cursor: string | undefined): TracePosition | undefined {
  const [at = '', id = ''] = decodeCursor(cursor, Position)?.split(' ') ?? [];
  return cursor === undefined ? undefined : { startedAt: new Date(at), id };
}
const toCursor = (next: TracePosition | undefined) =>
  next === undefined ? null : encodeCursor(`${next.startedAt.toISOString()} ${next.id}`);

const toFilter = ({
  conversation_id: conversationId,
  user_id: userId,
  prompt_name: promptName,
  min_steps: minSteps,
  min_cost: minCost,
  max_cost: maxCost,
  min_latency_ms: minLatencyMs,
  max_latency_ms: maxLatencyMs,
  q: terms,
  ...filter
}: Omit<z.output<typeof TracesQuery>, 'limit' | 'cursor'>): TraceFilter => ({
  conversationId,
  userId,
  promptName,
  minSteps,
  minCost,
  maxCost,
  minLatencyMs,
  maxLatencyMs,
  terms,
  ...filter,
});

const withScores = <Record extends object>(record: Record, rows: readonly ScoreRow[]) =>
  rows.length === 0 ? record : { ...record, scores: rows.map(presentScore) };

/** `/traces` and `/conversations`, but for what stores them. */
export function traceRoutes(): Route[] {
  return [
    defineRoute({
      method: 'get',
      path: '/traces',
      operationId: 'listTraces',
      tag,
      summary: 'List traces, newest first',
      description: EXAMINES,
      scope: 'read',
      query: TracesQuery,
      repeatable: REPEATABLE,
      response: TracePage,
      responseExample: { data: [traceSample], next_cursor: null },
      async handler({ db, query: { limit, cursor, ...filter } }) {
        const { rows, next } = await listTraces(db, toFilter(filter), limit, toPosition(cursor));
        return { data: rows.map(presentTrace), next_cursor: toCursor(next) };
      },
    }),
    defineRoute({
      method: 'get',
      path: '/traces/{id}',
      operationId: 'getTrace',
      tag,
      summary: 'Retrieve a trace: its tokens, cost and errors',
      scope: 'read',
      params: TraceParams,
      response: Trace,
      responseExample: traceSample,
      async handler({ db, params }) {
        const traceId = traceUuid(params.id);
        return withScores(
          presentTrace(await getTrace(db, traceId)),
          await scoresOf(db.query, { traceId, spanId: null }),
        );
      },
    }),
    defineRoute({
      method: 'get',
      path: '/traces/{id}/steps',
      operationId: 'listTraceSteps',
      tag,
      summary: 'List the steps of a trace as a tree, each before those below it',
      description: 'Without texts: retrieve a single step to get them.',
      scope: 'read',
      params: TraceParams,
      query: StepsQuery,
      response: TraceStepPage,
      responseExample: { data: [stepSample], next_cursor: null },
      async handler({ db, params, query: { limit, cursor } }) {
        const after = decodeCursor(cursor, z.string().regex(/^[0-9a-f]{16}$/));
        const trace = await getTrace(db, traceUuid(params.id));
        const page = await listSteps(db.query, trace, limit, after);
        return toPage(page, presentStep, ({ span_id: id }) => id);
      },
    }),
    defineRoute({
      method: 'get',
      path: '/traces/{id}/steps/{span_id}',
      operationId: 'getTraceStep',
      tag,
      summary: 'Retrieve a step of a trace, with its texts',
      scope: 'read',
      params: StepParams,
      response: WholeTraceStep,
      responseExample: wholeStepSample,
      async handler({ db, params }) {
        const trace = await getTrace(db, traceUuid(params.id));
        const step = await getStep(db.query, trace, params.span_id.toLowerCase());
        const scores = await scoresOf(db.query, { traceId: trace.id, spanId: step.span_id });
        return withScores(presentWholeStep(step), scores);
      },
    }),
    defineRoute({
      method: 'delete',
      path: '/traces/{id}',
      operationId: 'deleteTrace',
      audit: ['trace.deleted'],
      tag,
      summary: 'Delete a trace, with its steps and the executions recorded from them',
      description: 'Tokens and cost stay in `GET /usage`.',
      scope: 'write',
      params: TraceParams,
      response: Trace,
      responseExample: traceSample,
      handler: async ({ db, params }) => presentTrace(await deleteTrace(db, traceUuid(params.id))),
    }),
    defineRoute({
      method: 'get',
      path: '/conversations',
      operationId: 'listConversations',
      tag,
      summary: 'List conversations, the most recent first',
      description: EXAMINES,
      scope: 'read',
      query: ConversationsQuery,
      response: ConversationPage,
      responseExample: { data: [conversationSample], next_cursor: null },
      async handler({ db, query: { limit, cursor, user_id: userId, ...times } }) {
        const filter = { userId, ...times, lastOfConversation: true };
        const { rows, next } = await listTraces(db, filter, limit, toPosition(cursor));
        const ids = rows.flatMap(({ conversation_id: id }) => (id === null ? [] : [id]));
        const sums = new Map((await sumUpConversations(db.query, ids)).map((row) => [row.id, row]));
        const data = ids.flatMap((id) => sums.get(id) ?? []).map(presentConversation);
        return { data, next_cursor: toCursor(next) };
      },
    }),
    defineRoute({
      method: 'get',
      path: '/conversations/{name}',
      operationId: 'getConversation',
      tag,
      summary: 'Retrieve a conversation with its traces, oldest first',
      scope: 'read',
      params: ConversationParams,
      query: TurnsQuery,
      response: WholeConversation,
      responseExample: { ...conversationSample, data: [traceSample], next_cursor: null },
      async handler({ db, params: { name: id }, query: { limit, cursor } }) {
        const [sums] = await sumUpConversations(db.query, [id]);
        if (sums === undefined) throw notFound('This conversation');
        const { rows, next } = await listTurns(db, id, limit, toPosition(cursor));
        const scores = await scoresOf(db.query, { conversationId: id });
        const conversation = withScores(presentConversation(sums), scores);
        return { ...conversation, data: rows.map(presentTrace), next_cursor: toCursor(next) };
      },
    }),
    defineRoute({
      method: 'delete',
      path: '/conversations/{name}',
      operationId: 'deleteConversation',
      audit: ['conversation.deleted'],
      tag,
      summary: 'Delete all traces of a conversation',
      description: 'With their steps and the executions recorded from them. Tokens and cost stay in `GET /usage`.',
      scope: 'write',
      params: ConversationParams,
      response: DeletedConversation,
      responseExample: { id: conversationSample.id, traces: 3 },
      handler: async ({ db, params: { name: id } }) => ({ id, traces: await deleteConversation(db, id) }),
    }),
  ];
}
