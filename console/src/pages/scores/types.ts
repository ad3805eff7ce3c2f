import type { z } from 'zod';
import type * as scores from '../../../../src/api/scores/schema.ts';

export type Score = z.output<typeof scores.Score>;
export type ScoreDefinition = z.output<typeof scores.ScoreDefinition>;
export type ScoreSummary = z.output<typeof scores.ScoreSummary>;
export type ScoreValue = Score['value'];
export type DataType = ScoreDefinition['data_type'];
