import { type Selectable, sql } from 'kysely';
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
import { getScoreDefinition } from './definitions.ts';

/** Scores of people that are looked at: the newest. */
export const MAX_PEOPLE_SCORES = 20_000;
/** Versions of evaluators that are shown: those with the newest scores. */
const MAX_VERSIONS = 50;
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
  /** Whether people have scored more than was looked at. */
  truncated: boolean;
}

type ScoreColumns = Selectable<Tables['scores']>;
type Valued = Pick<ScoreColumns, 'number' | 'text'>;
type OfSubject = Pick<ScoreColumns, 'execution_id' | 'evaluation_id' | 'example_id'>;

/** What people say of a subject. */
interface PeopleSay {
  subject: ScoreSubject;
  /** By person: their newest. */
  values: Map<string, ComparableValue>;
}

/**
 * Compares each version of the evaluators that give a score with what people say of the same subjects. Of several people, the most frequent
 * category or the median counts. A person's newest score of a subject counts.
 * @throws ApiError `not_found`; `invalid_request` where the score is a text
 */
export async function compareJudges(query: Query, question: AgreementQuestion): Promise<Agreement> {
  const { data_type: type, categories } = await getScoreDefinition(query, question.score);
  if (type === 'text') throw invalidField('score', 'is a text: only numbers, booleans and categories can be compared');
  const order = question.ordered ? categories?.map(({ value }) => value) : undefined;
  const { people, truncated } = await readPeople(query, question, type);
  const judges = await readJudges(
    query,
    question,
    type,
    [...people.values()].map(({ subject }) => subject),
  );
  const versions = [
    ...Map.groupBy(judges, ({ rule, evaluator_version: version }) => JSON.stringify([rule, version])).values(),
  ];
  const compared: VersionAgreement[] = [];
  for (const rows of versions.slice(0, MAX_VERSIONS)) {
    compared.push(versionAgreement(type, rows, people, order, question.disagreements));
    await afterOthers(rows.length * 100);
  }
  return { score: question.score, type, versions: compared, truncated };
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
  const people = new Map<string, PeopleSay>();
  for (const row of rows.slice(0, MAX_PEOPLE_SCORES)) {
    const value = comparable(row);
    if (value === undefined) continue;
    const subject = subjectOf(row);
    const said = people.get(subjectKey(subject)) ?? { subject, values: new Map<string, ComparableValue>() };
    const person = row.author ?? row.id;
    if (!said.values.has(person)) said.values.set(person, value);
    people.set(subjectKey(subject), said);
  }
  return { people, truncated: rows.length > MAX_PEOPLE_SCORES };
}

type JudgeRow = Awaited<ReturnType<typeof readJudgesOf>>[number];

/** What evaluators say of these subjects, newest first. */
async function readJudges(
  query: Query,
  question: AgreementQuestion,
  type: ComparableType,
  subjects: readonly ScoreSubject[],
): Promise<JudgeRow[]> {
  const rows: JudgeRow[] = [];
  for (let from = 0; from < subjects.length; from += SUBJECTS_AT_ONCE)
    rows.push(...(await readJudgesOf(query, question, type, subjects.slice(from, from + SUBJECTS_AT_ONCE))));
  return rows.sort((a, b) => b.created_at.getTime() - a.created_at.getTime());
}

async function readJudgesOf(
  query: Query,
  { score, rule }: AgreementQuestion,
  type: ComparableType,
  subjects: readonly ScoreSubject[],
) {
  const executions = subjects.flatMap((subject) => ('executionId' in subject ? [subject.executionId] : []));
  const examples = subjects.flatMap((subject) => ('exampleId' in subject ? [subject] : []));
  const keys = {
    evaluation_id: ['uuid', examples.map(({ evaluationId }) => evaluationId)],
    example_id: ['text', examples.map(({ exampleId }) => exampleId)],
  } as const;
  const rows = await query((db) =>
    db
      .selectFrom('scores')
      .select(['execution_id', 'evaluation_id', 'example_id', 'number', 'text', 'rule', 'evaluator_version'])
      .select(['evaluator_model', 'created_at'])
      .select(sql<string | null>`left(comment, ${sql.lit(MAX_REASON_LENGTH)})`.as('reason'))
      .where('name', '=', score)
      .where('source', '=', 'evaluator')
      .where('data_type', '=', type)
      .where((eb) => eb.and(given(rule, (name) => eb('rule', '=', name))))
      .where((eb) =>
        eb.or([
          sql<boolean>`${sql.ref('execution_id')} = any(${executions}::uuid[])`,
          eb(
            eb.refTuple('evaluation_id', 'example_id'),
            'in',
            db
              .selectFrom(unnestOf('given', keys))
              .select(['given.evaluation_id', 'given.example_id'])
              .$asTuple('evaluation_id', 'example_id'),
          ),
        ]),
      ),
  );
  return rows;
}

function versionAgreement(
  type: ComparableType,
  rows: readonly JudgeRow[],
  people: ReadonlyMap<string, PeopleSay>,
  order: readonly string[] | undefined,
  shown: number,
): VersionAgreement {
  const judged: Judged[] = [];
  const differing: Disagreement[] = [];
  let undecided = 0;
  for (const row of rows) {
    const subject = subjectOf(row);
    const said = people.get(subjectKey(subject));
    const judge = comparable(row);
    if (said === undefined || judge === undefined) continue;
    const consensus = consensusOf(type, [...said.values.values()]);
    if (consensus === null) {
      undecided += 1;
      continue;
    }
    const both = { judge, people: consensus };
    judged.push(both);
    const distance = distanceOf(type, both, order);
    if (distance > 0) differing.push({ subject, ...both, reviewers: said.values.size, distance, reason: row.reason });
  }
  const [newest] = rows;
  return {
    rule: newest?.rule ?? '',
    version: newest?.evaluator_version ?? '',
    model: newest?.evaluator_model ?? null,
    subjects: judged.length,
    undecided,
    ...judgeAgreement(type, judged, order),
    disagreementsTotal: differing.length,
    // Sorting is stable: of equal ones the newest come first.
    disagreements: differing.sort((a, b) => b.distance - a.distance).slice(0, shown),
  };
}
