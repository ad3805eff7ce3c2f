import type { z } from 'zod';
import { publicId, traceIdOf } from '../../domain/ids.ts';
import { scoreValueOf } from '../../domain/scores/score.ts';
import { type ScoreSubject, subjectOf } from '../../domain/scores/score-subject.ts';
import type { ScoreDefinitionRow } from '../../services/scores/definitions.ts';
import type { ScoreRow } from '../../services/scores/store-scores.ts';
import type { Score, ScoreDefinition } from './schema.ts';

/** Presents the subject of a score. */
export function presentSubject(subject: ScoreSubject): z.input<typeof Score>['subject'] {
  if ('executionId' in subject) return { execution_id: publicId('execution', subject.executionId) };
  if ('conversationId' in subject) return { conversation_id: subject.conversationId };
  if ('traceId' in subject)
    return { trace_id: traceIdOf(subject.traceId), ...(subject.spanId !== null && { span_id: subject.spanId }) };
  return { evaluation_id: publicId('evaluation', subject.evaluationId), example_id: subject.exampleId };
}

/** Presents a score. */
export function presentScore(row: ScoreRow): z.input<typeof Score> {
  const { rule, evaluator_version: version, evaluator_model: model } = row;
  return {
    id: publicId('score', row.id),
    name: row.name,
    value: scoreValueOf(row),
    data_type: row.data_type,
    subject: presentSubject(subjectOf(row)),
    source: row.source,
    author: row.author,
    evaluator: rule === null || version === null ? null : { rule, version, model },
    comment: row.comment,
    metadata: row.metadata,
    created_at: row.created_at.toISOString(),
    updated_at: row.updated_at.toISOString(),
  };
}

export const presentDefinition = (row: ScoreDefinitionRow): z.input<typeof ScoreDefinition> => ({
  name: row.name,
  data_type: row.data_type,
  min: row.min,
  max: row.max,
  categories: row.categories,
  description: row.description,
  defined: row.defined,
  created_at: row.created_at.toISOString(),
  updated_at: row.updated_at.toISOString(),
});
