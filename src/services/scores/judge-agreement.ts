import { type ExpressionBuilder, type Selectable, sql } from 'kysely';
import type { Query } from '../../db/database.ts';
import { given, unnestOf } from '../../db/sql.ts';
import type { Tables } from '../../db/tables.ts';
import { invalidField } from '../../domain/errors.ts';
import {
  type ComparableType,
  type ComparableValue,
  consensusOf,
  distanceOf,
  type JudgeAgreement,
  type Judged,
  judgeAgreement,
} from '../../domain/scores/agreement.ts';
import { type ScoreSubject, subjectKey, subjectOf } from '../../domain/scores/score-subject.ts';
import { afterOthers } from '../../lib/event-loop.ts';
import { DEFINITIONS } from './definitions.ts';
import { SUBJECT_COLUMNS } from './store-scores.ts';

/** The maximum number of human scores to compare: the newest. */
export const MAX_PEOPLE_SCORES = 20_000;
/** The maximum number of evaluator scores to compare: those of the subjects most recently scored by people. */
const MAX_JUDGE_SCORES = 100_000;
/** The maximum number of evaluator versions to compare: those with the newest scores. */
const MAX_VERSIONS = 50;
/** The maximum size of the texts that a comparison reads: ids and a category, and for human scores who scored. */
export const AGREEMENT_BYTES = MAX_PEOPLE_SCORES * 400 + MAX_JUDGE_SCORES * 280;
/** The number of subjects in one query. */
const SUBJECTS_AT_ONCE = 2_000;
/** The maximum length of a judge's reason that is shown, in characters. */
const MAX_REASON_LENGTH = 500;

/** Which scores by people count. */
export interface PeopleQuestion {
  /** The name of the score that both submit. */
  score: string;
  /** Whether scores submitted with feedback tokens count as human scores. */
  feedback: boolean;
  /** When they were stored. */
  since?: Date | undefined;
  until?: Date | undefined;
}

/** Which judges to compare with which people. */
export interface AgreementQuestion extends PeopleQuestion {
  /** Undefined: every rule. */
  rule?: string | undefined;
  /** Whether the categories of the score's definition are ordered. */
  ordered: boolean;
  /** The maximum number for each version. */
  disagreements: number;
}

/** A subject that a judge and people scored differently. */
export interface Disagreement {
  subject: ScoreSubject;
  judge: ComparableValue;
  people: ComparableValue;
  /** The number of people. */
  reviewers: number;
  distance: number;
  /** The judge's reason, truncated to some hundred characters. */
  reason: string | null;
}

/** How well a version of an evaluator agrees with people. */
export interface VersionAgreement extends JudgeAgreement {
  rule: string;
  version: string;
  model: string | null;
  /** Subjects scored by both. */
  subjects: number;
  /** Subjects that are excluded because people disagree with each other. */
  undecided: number;
  disagreementsTotal: number;
  disagreements: Disagreement[];
}

export interface Agreement {
  score: string;
  type: ComparableType;
  /** Newest first. */
  versions: VersionAgreement[];
  /** Whether there are more scores or versions than were compared. */
  truncated: boolean;
}

type ScoreColumns = Selectable<Tables['scores']>;
type Valued = Pick<ScoreColumns, 'number' | 'text'>;

/** The human scores of a subject. */
export interface PeopleSay {
  subject: ScoreSubject;
  /** Null if they disagree. */
  consensus: ComparableValue | null;
  reviewers: number;
}

/** The score of a subject by a version of an evaluator. */
interface JudgeSays {
  /** UUID of the score. */
  id: string;
  judge: ComparableValue;
  people: PeopleSay;
}

interface Version {
  rule: string;
  version: string;
  model: string | null;
  scores: JudgeSays[];
}

/** A disagreement whose reason has not been read yet. */
type Differing = Omit<Disagreement, 'reason'> & { id: string };

/**
 * Compares each version of the evaluators that produce a score with human scores of the same subjects. If several people scored a subject,
 * the most frequent category or the median counts. A person's newest score of a subject counts. Reads at most {@link AGREEMENT_BYTES}.
 * @throws ApiError `not_found`; `invalid_request` if the score is a text
 */
export async function compareJudges(query: Query, question: AgreementQuestion): Promise<Agreement> {
  const { data_type: type, categories } = await DEFINITIONS.get(query, { name: question.score });
  if (type === 'text')
    throw invalidField('score', 'is a text score: only numbers, booleans and categories can be compared');
  const order = question.ordered ? categories?.map(({ value }) => value) : undefined;
  const { people, truncated } = await readPeople(query, question, type);
  const judges = await readJudges(query, question, type, people);
  const compared: (Omit<VersionAgreement, 'disagreements'> & { differing: Differing[] })[] = [];
  for (const version of judges.versions) {
    compared.push(versionAgreement(type, version, order, question.disagreements));
    await afterOthers(version.scores.length * 100);
  }
  const reasons = await readReasons(
    query,
    compared.flatMap(({ differing }) => differing.map(({ id }) => id)),
  );
  return {
    score: question.score,
    type,
    versions: compared.map(({ differing, ...version }) => ({
      ...version,
      disagreements: differing.map(({ id, ...each }) => ({ ...each, reason: reasons.get(id) ?? null })),
    })),
    truncated: truncated || judges.truncated,
  };
}

const comparable = ({ number, text }: Valued): ComparableValue | undefined => number ?? text ?? undefined;

/** What people say of each subject, those with the newest scores first. If several scored it, the most frequent category or the median counts. */
export async function readPeople(
  query: Query,
  { score, feedback, since, until }: PeopleQuestion,
  type: ComparableType,
): Promise<{ people: Map<string, PeopleSay>; truncated: boolean }> {
  const rows = await query((db) =>
    db
      .selectFrom('scores')
      .select(['id', ...SUBJECT_COLUMNS, 'number', 'text', 'author'])
      .where('name', '=', score)
      // Matches the index on human scores.
      .where('source', 'in', [sql.lit('person' as const), sql.lit('feedback' as const)])
      .where('data_type', '=', type)
      .where((eb) =>
        eb.and([
          ...(feedback ? [] : [eb('source', '=', 'person')]),
          ...given(since, (time) => eb('created_at', '>=', time)),
          ...given(until, (time) => eb('created_at', '<', time)),
        ]),
      )
      .orderBy('created_at', 'desc')
      .orderBy('id', 'desc')
      .limit(MAX_PEOPLE_SCORES + 1),
  );
  const said = new Map<string, { subject: ScoreSubject; values: Map<string, ComparableValue> }>();
  for (const row of rows.slice(0, MAX_PEOPLE_SCORES)) {
    const value = comparable(row);
    if (value === undefined) continue;
    const subject = subjectOf(row);
    const ofSubject = said.get(subjectKey(subject)) ?? { subject, values: new Map<string, ComparableValue>() };
    const person = row.author ?? row.id;
    if (!ofSubject.values.has(person)) ofSubject.values.set(person, value);
    said.set(subjectKey(subject), ofSubject);
  }
  const people = new Map<string, PeopleSay>();
  for (const [key, { subject, values }] of said)
    people.set(key, { subject, consensus: consensusOf(type, [...values.values()]), reviewers: values.size });
  return { people, truncated: rows.length > MAX_PEOPLE_SCORES };
}

/** The evaluator scores of these subjects: of the newest versions, newest first. */
async function readJudges(
  query: Query,
  question: AgreementQuestion,
  type: ComparableType,
  people: ReadonlyMap<string, PeopleSay>,
): Promise<{ versions: Version[]; truncated: boolean }> {
  const subjects = [...people.values()].map(({ subject }) => subject);
  const parts = Array.from({ length: Math.ceil(subjects.length / SUBJECTS_AT_ONCE) }, (_, index) =>
    subjects.slice(index * SUBJECTS_AT_ONCE, (index + 1) * SUBJECTS_AT_ONCE),
  );
  const found = await readVersions(query, question, type, parts);
  const versions = found.slice(0, MAX_VERSIONS).map((version): Version => ({ ...version, scores: [] }));
  const scored = () => versions.filter(({ scores }) => scores.length > 0);
  let left = MAX_JUDGE_SCORES;
  for (const part of versions.length === 0 ? [] : parts) {
    const rows = await readScores(query, question, type, { subjects: part, versions, limit: left + 1 });
    for (const { id, place, ...row } of rows.slice(0, left)) {
      const [said, judge] = [people.get(subjectKey(subjectOf(row))), comparable(row)];
      if (said !== undefined && judge !== undefined) versions[place]?.scores.push({ id, judge, people: said });
    }
    if (rows.length > left) return { versions: scored(), truncated: true };
    left -= rows.length;
    await afterOthers(rows.length * 100);
  }
  return { versions: scored(), truncated: found.length > MAX_VERSIONS };
}

/** Newest first: one more than will be compared, if there are more. */
async function readVersions(
  query: Query,
  question: AgreementQuestion,
  type: ComparableType,
  parts: readonly (readonly ScoreSubject[])[],
): Promise<Omit<Version, 'scores'>[]> {
  const newest = new Map<string, Omit<Version, 'scores'> & { last: Date }>();
  for (const part of parts) {
    // The newest of all are among the newest of each part.
    const rows = await query((db) =>
      db
        .selectFrom('scores')
        .select((eb) => [
          'rule',
          'evaluator_version as version',
          eb.fn.max('evaluator_model').as('model'),
          eb.fn.max('created_at').as('last'),
        ])
        .where(judgesOf(question, type, part))
        .groupBy(['rule', 'evaluator_version'])
        .orderBy('last', 'desc')
        .limit(MAX_VERSIONS + 1),
    );
    for (const { rule, version, model, last } of rows) {
      const key = JSON.stringify([rule, version]);
      const before = newest.get(key);
      if (before === undefined || before.last < last)
        newest.set(key, { rule: rule ?? '', version: version ?? '', model, last });
    }
  }
  return [...newest.values()]
    .sort((a, b) => b.last.getTime() - a.last.getTime())
    .slice(0, MAX_VERSIONS + 1)
    .map(({ rule, version, model }) => ({ rule, version, model }));
}

/** The scores of these subjects and versions, newest first, with the index of their version. */
async function readScores(
  query: Query,
  question: AgreementQuestion,
  type: ComparableType,
  { subjects, versions, limit }: { subjects: readonly ScoreSubject[]; versions: readonly Version[]; limit: number },
) {
  const wanted = unnestOf('wanted', {
    rule: ['text', versions.map(({ rule }) => rule)],
    version: ['text', versions.map(({ version }) => version)],
    place: ['integer', versions.map((_, place) => place)],
  });
  return query((db) =>
    db
      .selectFrom('scores')
      .innerJoin(wanted, (join) =>
        join.onRef('wanted.rule', '=', 'scores.rule').onRef('wanted.version', '=', 'scores.evaluator_version'),
      )
      .select(['id', ...SUBJECT_COLUMNS, 'number', 'text', 'wanted.place'])
      .where(judgesOf(question, type, subjects))
      .orderBy('created_at', 'desc')
      .orderBy('id', 'desc')
      .limit(limit),
  );
}

/** The evaluator scores to compare, of these subjects. */
function judgesOf({ score, rule }: AgreementQuestion, type: ComparableType, subjects: readonly ScoreSubject[]) {
  const executions = subjects.flatMap((subject) => ('executionId' in subject ? [subject.executionId] : []));
  const examples = subjects.flatMap((subject) => ('exampleId' in subject ? [subject] : []));
  const traces = subjects.flatMap((subject) => ('traceId' in subject ? [subject] : []));
  const conversations = subjects.flatMap((subject) => ('conversationId' in subject ? [subject.conversationId] : []));
  const spans = {
    trace_id: ['uuid', traces.map(({ traceId }) => traceId)],
    span_id: ['text', traces.map(({ spanId }) => spanId ?? '')],
  } as const;
  const keys = {
    evaluation_id: ['uuid', examples.map(({ evaluationId }) => evaluationId)],
    example_id: ['text', examples.map(({ exampleId }) => exampleId)],
  } as const;
  return (eb: ExpressionBuilder<Tables, 'scores'>) =>
    eb.and([
      eb('scores.name', '=', score),
      eb('scores.source', '=', 'evaluator'),
      eb('scores.data_type', '=', type),
      ...given(rule, (name) => eb('scores.rule', '=', name)),
      eb.or([
        sql<boolean>`${sql.ref('scores.execution_id')} = any(${executions}::uuid[])`,
        eb(
          eb.refTuple('scores.evaluation_id', 'scores.example_id'),
          'in',
          eb
            .selectFrom(unnestOf('given', keys))
            .select(['given.evaluation_id', 'given.example_id'])
            .$asTuple('evaluation_id', 'example_id'),
        ),
        ...(conversations.length === 0
          ? []
          : [sql<boolean>`${sql.ref('scores.conversation_id')} = any(${conversations}::text[])`]),
        ...(traces.length === 0
          ? []
          : [
              eb.exists(
                eb
                  .selectFrom(unnestOf('step', spans))
                  .select('step.trace_id')
                  .whereRef('step.trace_id', '=', 'scores.trace_id')
                  .where(sql<boolean>`${sql.ref('step.span_id')} = coalesce(${sql.ref('scores.span_id')}, '')`),
              ),
            ]),
      ]),
    ]);
}

/** The evaluators' reasons for these scores, by id. */
async function readReasons(query: Query, ids: readonly string[]): Promise<Map<string, string | null>> {
  if (ids.length === 0) return new Map();
  const rows = await query((db) =>
    db
      .selectFrom('scores')
      .select(['id', sql<string | null>`left(comment, ${sql.lit(MAX_REASON_LENGTH)})`.as('reason')])
      .where(sql<boolean>`${sql.ref('id')} = any(${ids}::uuid[])`),
  );
  return new Map(rows.map(({ id, reason }) => [id, reason]));
}

function versionAgreement(
  type: ComparableType,
  { scores, ...version }: Version,
  order: readonly string[] | undefined,
  shown: number,
) {
  const judged: Judged[] = [];
  const differing: Differing[] = [];
  let undecided = 0;
  for (const { id, judge, people } of scores) {
    const { subject, consensus, reviewers } = people;
    if (consensus === null) {
      undecided += 1;
      continue;
    }
    const both = { judge, people: consensus };
    judged.push(both);
    const distance = distanceOf(type, both, order);
    if (distance > 0) differing.push({ id, subject, ...both, reviewers, distance });
  }
  return {
    ...version,
    subjects: judged.length,
    undecided,
    ...judgeAgreement(type, judged, order),
    disagreementsTotal: differing.length,
    // Sorting is stable: equal ones keep the order in which they were read.
    differing: differing.sort((a, b) => b.distance - a.distance).slice(0, shown),
  };
}
