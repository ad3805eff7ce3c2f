// The records of the API, from the schemas that the API itself uses. Types only: no server code is in the build.
import type { z } from 'zod';
import type {} from 'zod-openapi';
import type * as datasets from '../../src/api/datasets/schema.ts';
import type * as deliveries from '../../src/api/deliveries/schema.ts';
import type * as evaluations from '../../src/api/evaluations/schema.ts';
import type * as executionFilters from '../../src/api/executions/filter-schema.ts';
import type * as executions from '../../src/api/executions/schema.ts';
import type * as labels from '../../src/api/labels/schema.ts';
import type * as members from '../../src/api/members/schema.ts';
import type * as prompts from '../../src/api/prompts/schema.ts';
import type * as sessions from '../../src/api/sessions/schema.ts';
import type * as statistics from '../../src/api/statistics/schema.ts';
import type * as traceFilters from '../../src/api/traces/filter-schema.ts';
import type * as traces from '../../src/api/traces/schema.ts';
import type * as views from '../../src/api/views/schema.ts';
import type { PromptMessage as PromptMessageSchema } from '../../src/domain/prompts/messages.ts';
import type { Inputs as InputsSchema } from '../../src/domain/prompts/prompt-content.ts';

export type Prompt = z.output<typeof prompts.Prompt>;
export type ListedPrompt = z.output<typeof prompts.ListedPrompt>;
export type CreatePrompt = z.input<typeof prompts.CreatePrompt>;
export type UpdatePrompt = z.input<typeof prompts.UpdatePrompt>;
export type PromptMessage = z.output<typeof PromptMessageSchema>;
export type Inputs = z.output<typeof InputsSchema>;
export type Parameters = Prompt['parameters'];
export type Execution = z.output<typeof executions.Execution>;
/** Query parameters that filter a list. */
export type ExecutionFilterName = keyof typeof executionFilters.executionFilterQuery;
export type TraceFilterName = keyof typeof traceFilters.traceFilterQuery;
export type ExecutionFacets = z.output<typeof executions.ExecutionFacets>;
export type CreateExecution = z.input<typeof executions.CreateExecution>;
export type Evaluation = z.output<typeof evaluations.Evaluation>;
export type Dataset = z.output<typeof datasets.Dataset>;

export type Session = z.output<typeof sessions.Session>;
export type EndedSession = z.output<typeof sessions.EndedSession>;
export type OwnSession = z.output<typeof sessions.OwnSession>;

export type Member = z.output<typeof members.Member>;
export type Role = Member['role'];
export type Me = z.output<typeof members.Me>;

export type LabelRecord = z.output<typeof labels.Label>;

export type Delivery = z.output<typeof deliveries.Delivery>;
export type Trace = z.output<typeof traces.Trace>;
export type TraceStep = z.output<typeof traces.TraceStep>;
export type WholeTraceStep = z.output<typeof traces.WholeTraceStep>;
export type Conversation = z.output<typeof traces.Conversation>;
export type View = z.output<typeof views.View>;

export interface Provider {
  provider: string;
  is_configured: boolean;
  setting: string | null;
  has_batches: boolean;
  models: {
    model: string;
    pricing: { input: string; output: string; cached_input: string | null } | null;
    context_window: number | null;
  }[];
}

export type PromptStatistics = z.output<typeof statistics.StatisticsPage>['data'][number];
export type PromptSeries = z.output<typeof statistics.PromptSeries>;
