import { z } from 'zod';
import { notFound } from '../../domain/errors.ts';
import { traceUuid } from '../../domain/ids.ts';
import { DEFAULT_TRACE_POLICY, TracePolicy } from '../../domain/traces/trace-policy.ts';
import { decodeCursor, encodeCursor, toPage } from '../../http/pagination.ts';
import { defineRoute, type Route } from '../../http/route.ts';
import { scoresOf } from '../../services/scores/scores.ts';
import type { ScoreRow } from '../../services/scores/store-scores.ts';
import { searchTraces } from '../../services/search/find-traces.ts';
import { deleteConversation, deleteTrace, deleteTracesOfUser } from '../../services/traces/delete-traces.ts';
import { getStep, listSteps } from '../../services/traces/steps.ts';
import {
  countTraces,
  listSortedTraces,
  SORTED_TRACES,
  type SortedTracePosition,
  TRACE_SORTS,
  type TraceSort,
} from '../../services/traces/trace-orders.ts';
import { readTracePolicy, setTracePolicy } from '../../services/traces/trace-policy.ts';
import {
  EXAMINED_TRACES,
  getTrace,
  listTraces,
  listTurns,
  sumUpConversations,
  type TracePosition,
} from '../../services/traces/traces.ts';
import { REPEATABLE } from '../executions/filter-schema.ts';
import { presentScore } from '../scores/presenter.ts';
import { toTraceFilter } from './filter-schema.ts';
import { presentConversation, presentStep, presentTrace, presentWholeStep } from './presenter.ts';
import { conversationSample, stepSample, traceFacetsSample, traceSample, wholeStepSample } from './samples.ts';
import {
  ConversationPage,
  ConversationParams,
  ConversationsQuery,
  DeletedConversation,
  DeletedUser,
  EXAMINES,
  FacetsQuery,
  StepParams,
  StepsQuery,
  Trace,
  TraceFacets,
  TracePage,
  TraceParams,
  TracePolicyRecord,
  TraceStepPage,
  TracesQuery,
  TurnsQuery,
  UserQuery,
  WholeConversation,
  WholeTraceStep,
} from './schema.ts';

const tag = 'Traces';

const Position = z
  .string()
  .regex(/^\d{4}-\d{2}-\d{2}T[\d:.]+Z [0-9a-f-]{36}$/)
  .refine((text) => !Number.isNaN(Date.parse(text.slice(0, 24))));

function readPosition(text: string): TracePosition {
  const [at = '', id = ''] = text.split(' ');
  return { startedAt: new Date(at), id };
}
const writePosition = ({ startedAt, id }: TracePosition) => `${startedAt.toISOString()} ${id}`;

function toPosition(cursor: string | undefined): TracePosition | undefined {
  const text = decodeCursor(cursor, Position);
  return text === undefined ? undefined : readPosition(text);
}
const toCursor = (next: TracePosition | undefined) => (next === undefined ? null : encodeCursor(writePosition(next)));

/** The position in a sorted list: its order, the value and position of the last trace, and the newest and oldest sorted trace. */
const SortedPosition = z.tuple([
  z.enum(TRACE_SORTS.flatMap((name) => [name, `-${name}` as const])),
  z.number(),
  Position,
  Position,
  Position,
]);
const parseSorted = (text: string) => SortedPosition.safeParse(JSON.parse(text)).data;

function toSortedPosition(cursor: string | undefined, sort: TraceSort): SortedTracePosition | undefined {
  const isOf = (text: string) => parseSorted(text)?.[0] === sort;
  const text = decodeCursor(cursor, z.string().refine(isOf));
  if (text === undefined) return undefined;
  const [, value, ...positions] = SortedPosition.parse(JSON.parse(text));
  const [last, newest, oldest] = positions.map(readPosition) as [TracePosition, TracePosition, TracePosition];
  return { ...last, value, newest, oldest };
}
const toSortedCursor = ({ value, newest, oldest, ...last }: SortedTracePosition, sort: TraceSort) =>
  encodeCursor(JSON.stringify([sort, value, ...[last, newest, oldest].map(writePosition)]));

const withScores = <Record extends object>(record: Record, rows: readonly ScoreRow[]) =>
  rows.length === 0 ? record : { ...record, scores: rows.map(presentScore) };

/** `/traces` and `/conversations`, except for ingestion. */
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
      async handler({ db, query: { limit, cursor, sort, ...filter } }) {
        if (sort !== undefined) {
          const after = toSortedPosition(cursor, sort);
          const sorted = await listSortedTraces(db, toTraceFilter(filter), sort, limit, after);
          return {
            data: sorted.rows.map(presentTrace),
            next_cursor: sorted.next ? toSortedCursor(sorted.next, sort) : null,
          };
        }
        const { rows, next } = await searchTraces(db, toTraceFilter(filter), limit, toPosition(cursor));
        return { data: rows.map(presentTrace), next_cursor: toCursor(next) };
      },
    }),
    defineRoute({
      method: 'get',
      path: '/traces/facets',
      operationId: 'countTraces',
      tag,
      summary: 'Count traces by status, name, service, environment, user, model, tool, agent and tag',
      description: `Counts the newest ${SORTED_TRACES.toLocaleString('en-US')} matching traces or, with unindexed conditions, those that match among the newest ${EXAMINED_TRACES.toLocaleString('en-US')}.`,
      scope: 'read',
      query: FacetsQuery,
      repeatable: REPEATABLE,
      response: TraceFacets,
      responseExample: traceFacetsSample,
      handler: async ({ db, query }) => countTraces(db, toTraceFilter(query)),
    }),
    defineRoute({
      method: 'delete',
      path: '/traces',
      operationId: 'deleteTracesOfUser',
      audit: ['trace_user.deleted'],
      tag,
      summary: 'Delete all traces of a user',
      description: 'With their steps and the executions recorded from them. Tokens and cost stay in `GET /usage`.',
      scope: 'write',
      query: UserQuery,
      response: DeletedUser,
      responseExample: { user_id: 'ada', traces: 3 },
      handler: async ({ db, query: { user_id: userId } }) => ({
        user_id: userId,
        traces: await deleteTracesOfUser(db, userId),
      }),
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
      path: '/trace-policy',
      operationId: 'getTracePolicy',
      tag,
      summary: 'Retrieve the policy for storing traces and recorded runs',
      scope: 'admin',
      response: TracePolicyRecord,
      responseExample: DEFAULT_TRACE_POLICY,
      handler: async ({ db }) => readTracePolicy(db.query),
    }),
    defineRoute({
      method: 'put',
      path: '/trace-policy',
      operationId: 'setTracePolicy',
      audit: ['trace_policy.updated'],
      tag,
      summary: 'Set the policy for storing traces and recorded runs',
      description:
        'The policy applies to traces and recorded runs that arrive after the change. An omitted field gets its default.',
      scope: 'admin',
      body: TracePolicy,
      bodyExamples: {
        'Masks and attributes': { mask: ['secret', 'email', { pattern: 'CUST-\\d{6}' }], drop_attributes: ['http.*'] },
      },
      response: TracePolicyRecord,
      responseExample: DEFAULT_TRACE_POLICY,
      handler: async ({ db, body }) => setTracePolicy(db, body),
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
