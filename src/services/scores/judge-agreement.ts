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
import { type ScoreSubject, subjectKey } from '../../domain/scores/score-subject.ts';
import { afterOthers } from '../../lib/event-loop.ts';
import { DEFINITIONS } from './definitions.ts';

/** Scores of people that are looked at: the newest. */
export const MAX_PEOPLE_SCORES = 20_000;
/** Scores of evaluators that are looked at: those of the subjects that people have scored last. */
const MAX_JUDGE_SCORES = 100_000;
/** Versions of evaluators that are looked at: those with the newest scores. */
const MAX_VERSIONS = 50;
/** Bytes of the texts that a comparison reads: ids and a category, of people also who has scored. */
export const AGREEMENT_BYTES = MAX_PEOPLE_SCORES * 400 + MAX_JUDGE_SCORES * 280;
/** Subjects that are looked for at once. */
const SUBJECTS_AT_ONCE = 2_000;
/** Characters of a judge's reason that are shown. */
const MAX_REASON_LENGTH = 500;

/** Which judges are compared with which people. */
export interface AgreementQuestion {
  /** The name of the score that both give. */
  score: string;
  /** Undefined: of every rule. */
  rule?: string | undefined;
  /** Whether what users say by feedback tokens counts as what people say. */
  feedback: boolean;
  /** Whether the categories of the score's definition are in order. */
  ordered: boolean;
  /** Of people's scores. */
  since?: Date | undefined;
  until?: Date | undefined;
  /** Of each version, at most. */
  disagreements: number;
}

/** A subject on which a judge and people differ. */
export interface Disagreement {
  subject: ScoreSubject;
  judge: ComparableValue;
  people: ComparableValue;
  /** How many people. */
  reviewers: number;
  distance: number;
  /** What the judge says to it, cut after some hundred characters. */
  reason: string | null;
}

/** How well a version of an evaluator agrees with people. */
export interface VersionAgreement extends JudgeAgreement {
  rule: string;
  version: string;
  model: string | null;
  /** Subjects that both have scored. */
  subjects: number;
  /** Subjects that are left out, since people disagree among themselves. */
  undecided: number;
  disagreementsTotal: number;
  disagreements: Disagreement[];
}

export interface Agreement {
  score: string;
  type: ComparableType;
  /** Newest first. */
  versions: VersionAgreement[];
  /** Whether there are more scores or versions than were looked at. */
  truncated: boolean;
}

type ScoreColumns = Selectable<Tables['scores']>;
type Valued = Pick<ScoreColumns, 'number' | 'text'>;
type OfSubject = Pick<ScoreColumns, 'execution_id' | 'evaluation_id' | 'example_id'>;

/** What people say of a subject. */
interface PeopleSay {
  subject: ScoreSubject;
  /** Null: they disagree. */
  consensus: ComparableValue | null;
  reviewers: number;
}

/** What a version of an evaluator says of a subject. */
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

/** A disagreement whose reason is not read yet. */
type Differing = Omit<Disagreement, 'reason'> & { id: string };

/**
 * Compares each version of the evaluators that give a score with what people say of the same subjects. Of several people, the most frequent
 * category or the median counts. A person's newest score of a subject counts. It reads {@link AGREEMENT_BYTES} at most.
 * @throws ApiError `not_found`; `invalid_request` where the score is a text
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

function subjectOf({
  execution_id: executionId,
  evaluation_id: evaluationId,
  example_id: exampleId,
}: OfSubject): ScoreSubject {
  return executionId === null ? { evaluationId: evaluationId ?? '', exampleId: exampleId ?? '' } : { executionId };
}

async function readPeople(
  query: Query,
  { score, feedback, since, until }: AgreementQuestion,
  type: ComparableType,
): Promise<{ people: Map<string, PeopleSay>; truncated: boolean }> {
  const rows = await query((db) =>
    db
      .selectFrom('scores')
      .select(['id', 'execution_id', 'evaluation_id', 'example_id', 'number', 'text', 'author'])
      .where('name', '=', score)
      // As the index on what people say has it.
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

/** What evaluators say of these subjects: of the newest versions, the newest first. */
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

/** The newest first: one more than are looked at, if there are more. */
async function readVersions(
  query: Query,
  question: AgreementQuestion,
  type: ComparableType,
  parts: readonly (readonly ScoreSubject[])[],
): Promise<Omit<Version, 'scores'>[]> {
  const newest = new Map<string, Omit<Version, 'scores'> & { last: Date }>();
  for (const part of parts) {
    // What is among the newest of all is among the newest of some part.
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

/** The scores of these subjects and versions, newest first, with the place of their version. */
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
      .select(['id', 'execution_id', 'evaluation_id', 'example_id', 'number', 'text', 'wanted.place'])
      .where(judgesOf(question, type, subjects))
      .orderBy('created_at', 'desc')
      .orderBy('id', 'desc')
      .limit(limit),
  );
}

/** Scores of evaluators that are asked for, of these subjects. */
function judgesOf({ score, rule }: AgreementQuestion, type: ComparableType, subjects: readonly ScoreSubject[]) {
  const executions = subjects.flatMap((subject) => ('executionId' in subject ? [subject.executionId] : []));
  const examples = subjects.flatMap((subject) => ('exampleId' in subject ? [subject] : []));
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
      ]),
    ]);
}

/** What evaluators say to these scores, by id. */
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
    // Sorting is stable: equal ones stay in the order in which they were read.
    differing: differing.sort((a, b) => b.distance - a.distance).slice(0, shown),
  };
}
