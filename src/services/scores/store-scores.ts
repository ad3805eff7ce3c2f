import { type Selectable, sql } from 'kysely';
import type { Query } from '../../db/database.ts';
import { arraysOf, jsonText, now, unnestOf } from '../../db/sql.ts';
import type { Tables } from '../../db/tables.ts';
import { ApiError, invalidField } from '../../domain/errors.ts';
import { newId, publicId } from '../../domain/ids.ts';
import {
  dataTypeOf,
  MAX_SCORES_AT_ONCE,
  type ScoreDataType,
  type ScoreSource,
  type ScoreValue,
  storedValue,
} from '../../domain/scores/score.ts';
import { evaluatorScoreId } from '../../domain/scores/score-id.ts';
import { type ScoreSubject, type SubjectIds, subjectKey } from '../../domain/scores/score-subject.ts';
import type { JsonValue } from '../../domain/text/json.ts';
import { recordChange } from '../audit/record-change.ts';
import { type HolderId, holdersOf } from '../members/holder.ts';
import { holdDefinitions, unknownName } from './definitions.ts';
import { holdSubjects, requireFewScores } from './score-subjects.ts';

export const SUBJECT_COLUMNS = [
  'execution_id',
  'evaluation_id',
  'example_id',
  'trace_id',
  'span_id',
  'conversation_id',
] as const satisfies (keyof SubjectIds)[];
/** The columns of a score that callers see. */
export const SCORE_COLUMNS = [
  'id',
  'name',
  'data_type',
  'number',
  'text',
  ...SUBJECT_COLUMNS,
  'source',
  'author',
  'rule',
  'evaluator_version',
  'evaluator_model',
  'comment',
  'metadata',
  'created_at',
  'updated_at',
] as const;
export type ScoreRow = Pick<Selectable<Tables['scores']>, (typeof SCORE_COLUMNS)[number]>;

export interface ScoreToStore {
  /** UUID. Default: a new one; for an evaluator, derived from the rule, its version, the name and the subject. */
  id?: string | undefined;
  name: string;
  value: ScoreValue;
  /** For a judge with categories: stored instead of `value` if the name is categorical or new. */
  category?: string | undefined;
  /** Default: the type of the name, or of the value if the name is new. */
  dataType?: ScoreDataType | undefined;
  subject: ScoreSubject;
  source: ScoreSource;
  author: HolderId | null;
  /** `version`: a short hash that changes with the evaluator's settings; `model`: the model of a judge. */
  evaluator?: { rule: string; version: string; model: string | null } | undefined;
  comment?: string | null | undefined;
  metadata?: Record<string, JsonValue> | undefined;
}

/**
 * Stores scores; a score with an existing id replaces the stored one. A new name gets the type of its first value, except from
 * feedback, whose holder must not decide for others. Runs in the caller's transaction.
 * @param scores at most 1,000
 * @param at the name of a score of the list in messages
 * @param replaces whose scores can be replaced: only scores by the same author, or all, with an entry in the audit log
 * @returns the stored scores, in the same order
 * @throws ApiError `invalid_request` naming the score and the limit, `not_found` naming the subject
 */
export async function storeScores(
  query: Query,
  scores: readonly ScoreToStore[],
  at: (index: number) => string = (index) => `scores.${index}.`,
  replaces: 'own' | 'any' = 'own',
): Promise<ScoreRow[]> {
  if (scores.length === 0) return [];
  if (scores.length > MAX_SCORES_AT_ONCE)
    throw new ApiError('invalid_request', `At most ${MAX_SCORES_AT_ONCE} scores can be stored in one request.`);
  const ids = idsOf(scores, at);
  await checkReplaced(query, scores, { ids, at, replaces });
  const subjects = await holdSubjects(
    query,
    scores.map(({ subject }) => subject),
    at,
  );
  const values = await valuesOf(query, scores, at);
  const rows = scores.map((score, index) => {
    const subject = subjects.get(subjectKey(score.subject));
    const value = values[index];
    if (subject === undefined || value === undefined) throw new Error('A score lost its subject or its value.');
    return {
      id: ids[index] ?? '',
      name: score.name,
      ...value,
      source: score.source,
      author: score.author,
      rule: score.evaluator?.rule ?? null,
      evaluator_version: score.evaluator?.version ?? null,
      evaluator_model: score.evaluator?.model ?? null,
      comment: score.comment ?? null,
      metadata: jsonText(score.metadata ?? {}),
      ...subject,
    };
  });
  const stored = new Map((await upsert(query, rows)).map((row) => [row.id, row]));
  await requireFewScores(query, [...subjects.values()]);
  return rows.map(({ id, name }, index) => {
    const row = stored.get(id);
    if (row === undefined)
      throw invalidField(`${at(index)}id`, `belongs to a score of another subject or with a name other than "${name}"`);
    return row;
  });
}

function idsOf(scores: readonly ScoreToStore[], at: (index: number) => string): string[] {
  const ids = scores.map(({ id, name, subject, evaluator }) => {
    if (id !== undefined) return id;
    return evaluator === undefined ? newId() : evaluatorScoreId(evaluator.rule, evaluator.version, name, subject);
  });
  const seen = new Set<string>();
  for (const [index, id] of ids.entries()) {
    if (seen.has(id)) throw invalidField(`${at(index)}id`, 'is used by another score of this request');
    seen.add(id);
  }
  return ids;
}

/**
 * Scores by people and programs can be replaced only by their authors or an admin. An evaluator's scores can be replaced by an
 * evaluator, with any key.
 */
async function checkReplaced(
  query: Query,
  scores: readonly ScoreToStore[],
  { ids, at, replaces }: { ids: readonly string[]; at: (index: number) => string; replaces: 'own' | 'any' },
): Promise<void> {
  const named = ids.filter((_, index) => scores[index]?.id !== undefined);
  if (named.length === 0) return;
  const rows = await query((db) =>
    db
      .selectFrom('scores')
      .select(['id', 'name', 'author', 'source'])
      .where('id', 'in', named)
      .orderBy('id')
      .forUpdate(),
  );
  const holderOf = await holdersOf(
    query,
    rows.map(({ author }) => author).filter((author) => author !== null),
  );
  for (const row of rows) {
    const index = ids.indexOf(row.id);
    const given = scores[index];
    if (row.source === 'evaluator' && given?.source === 'evaluator') continue;
    if ((row.author === null ? null : holderOf(row.author)) === given?.author) continue;
    if (replaces === 'own')
      throw invalidField(
        `${at(index)}id`,
        'belongs to a score of another author: only its author or an admin can replace it',
      );
    await recordChange(query, 'score.deleted', publicId('score', row.id), {
      name: row.name,
      source: row.source,
      author: row.author,
      replaced: true,
    });
  }
}

async function valuesOf(query: Query, scores: readonly ScoreToStore[], at: (index: number) => string) {
  const types = new Map<string, ScoreDataType | undefined>();
  for (const { name, value, category, dataType, source } of scores) {
    const given = source === 'feedback' ? undefined : (dataType ?? dataTypeOf(category ?? value));
    types.set(name, types.get(name) ?? given);
  }
  const definitions = await holdDefinitions(query, types);
  return scores.map(({ name, value, category, dataType, source }, index) => {
    const definition = definitions.get(name);
    if (definition === undefined) throw invalidField(`${at(index)}name`, unknownName(name));
    const said = definition.data_type === 'categorical' ? (category ?? value) : value;
    const stored = storedValue(definition, said, dataType, source);
    if ('problem' in stored) throw invalidField(`${at(index)}${stored.field ?? 'value'}`, stored.problem);
    return stored;
  });
}

type Row = Pick<
  Selectable<Tables['scores']>,
  | Exclude<(typeof SCORE_COLUMNS)[number], 'metadata' | 'created_at' | 'updated_at'>
  | 'prompt_name'
  | 'prompt_version'
  | 'label'
  | 'model'
  | 'release_id'
  | 'arm'
  | 'release_stage'
  | 'subject_at'
> & { metadata: string | null };

/** Returns the stored scores, without those whose id belongs to a score of another name or subject. */
async function upsert(query: Query, rows: Row[]): Promise<ScoreRow[]> {
  // In a fixed order, so that two transactions cannot deadlock.
  const all = arraysOf(rows.toSorted((a, b) => (a.id < b.id ? -1 : 1)));
  const columns = {
    id: ['uuid', all.id],
    name: ['text', all.name],
    data_type: ['text', all.data_type],
    number: ['double precision', all.number],
    text: ['text', all.text],
    execution_id: ['uuid', all.execution_id],
    evaluation_id: ['uuid', all.evaluation_id],
    example_id: ['text', all.example_id],
    trace_id: ['uuid', all.trace_id],
    span_id: ['text', all.span_id],
    conversation_id: ['text', all.conversation_id],
    source: ['text', all.source],
    author: ['text', all.author],
    rule: ['text', all.rule],
    evaluator_version: ['text', all.evaluator_version],
    evaluator_model: ['text', all.evaluator_model],
    comment: ['text', all.comment],
    metadata: ['jsonb', all.metadata],
    prompt_name: ['text', all.prompt_name],
    prompt_version: ['integer', all.prompt_version],
    label: ['text', all.label],
    model: ['text', all.model],
    release_id: ['uuid', all.release_id],
    arm: ['text', all.arm],
    release_stage: ['integer', all.release_stage],
    subject_at: ['timestamptz', all.subject_at],
  } as const;
  const names = Object.keys(columns) as (keyof typeof columns)[];
  return query((db) =>
    db
      .insertInto('scores')
      .columns([...names, 'created_at', 'updated_at'])
      .expression(
        db
          .selectFrom(unnestOf('given', columns))
          .select(names.map((name) => sql.ref(`given.${name}`).as(name)))
          .select([now.as('created_at'), now.as('updated_at')]),
      )
      .onConflict((conflict) =>
        conflict
          .columns(['workspace_id', 'id'])
          .doUpdateSet((eb) => ({
            data_type: eb.ref('excluded.data_type'),
            number: eb.ref('excluded.number'),
            text: eb.ref('excluded.text'),
            source: eb.ref('excluded.source'),
            author: eb.ref('excluded.author'),
            rule: eb.ref('excluded.rule'),
            evaluator_version: eb.ref('excluded.evaluator_version'),
            evaluator_model: eb.ref('excluded.evaluator_model'),
            comment: eb.ref('excluded.comment'),
            metadata: eb.ref('excluded.metadata'),
            updated_at: now,
          }))
          .whereRef('scores.name', '=', 'excluded.name')
          .where((eb) =>
            eb.and(
              SUBJECT_COLUMNS.map(
                (column) =>
                  sql<boolean>`${eb.ref(`scores.${column}`)} is not distinct from ${eb.ref(`excluded.${column}`)}`,
              ),
            ),
          ),
      )
      .returning(SCORE_COLUMNS),
  );
}
