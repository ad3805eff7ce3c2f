import { z } from 'zod';
import { jsonObject, smallRecord } from '../text/json-object.ts';
import { providerOptionsProblem } from './provider-options.ts';

/** The maximum number of providers that options can be set for, with room for names that other services pass on. */
const MAX_PROVIDERS = 100;

/** The form of the answer. With `json_schema`, the provider enforces the schema (structured output). */
export const ResponseFormat = z
  .discriminatedUnion('type', [
    z.strictObject({ type: z.literal('text') }).meta({ id: 'TextResponseFormat' }),
    z.strictObject({ type: z.literal('json_object') }).meta({ id: 'JsonObjectResponseFormat' }),
    z
      .strictObject({
        type: z.literal('json_schema'),
        json_schema: z
          .strictObject({
            name: z
              .string()
              .regex(/^[A-Za-z0-9_-]{1,64}$/, 'use 1–64 letters, digits, "_" or "-"')
              .default('response'),
            description: z.string().max(1024).optional(),
            schema: jsonObject(),
            strict: z.boolean().optional(),
          })
          .meta({ id: 'ResponseSchema' }),
      })
      .meta({ id: 'JsonSchemaResponseFormat' }),
  ])
  .meta({ id: 'ResponseFormat' });

/** Zod uses the message of `int` also for its bounds, if they have none. */
const wholeNumber = (max: number) =>
  z.int('must be a whole number').min(1, 'must be at least 1').max(max, `must be at most ${max}`);

/** Model parameters of a prompt or an execution. Unknown ones are refused, so that a typo never passes silently. */
export const ModelParameters = z
  .strictObject({
    temperature: z.number().min(0).max(2).optional(),
    top_p: z.number().min(0).max(1).optional(),
    top_k: wholeNumber(100_000).optional(),
    max_tokens: wholeNumber(10_000_000).optional(),
    stop: z.union([z.string().min(1).max(1024), z.array(z.string().min(1).max(1024)).min(1).max(16)]).optional(),
    seed: z.int('must be a whole number').optional(),
    frequency_penalty: z.number().min(-2).max(2).optional(),
    presence_penalty: z.number().min(-2).max(2).optional(),
    response_format: ResponseFormat.optional(),
    reasoning_effort: z.enum(['none', 'minimal', 'low', 'medium', 'high', 'xhigh']).optional(),
    verbosity: z
      .enum(['low', 'medium', 'high'])
      .meta({
        description: 'The length of responses. It is left out if the provider has no such parameter, as `top_k` is.',
      })
      .optional(),
    parallel_tool_calls: z
      .boolean()
      .meta({
        description: '`false`: the model calls at most one tool in a response. It changes nothing without tools.',
      })
      .optional(),
    provider_options: smallRecord(z.string().min(1).max(64), jsonObject(), {
      max: MAX_PROVIDERS,
      message: `must have at most ${MAX_PROVIDERS} entries`,
      shown: { type: 'object' },
    })
      .check((context) => {
        const problem = providerOptionsProblem(context.value);
        if (problem !== undefined) context.issues.push({ code: 'custom', ...problem, input: context.value });
      })
      .meta({
        description:
          'Options in the provider\'s own names, passed on unchanged: `{"openai": {"store": false}}`. Options that cost something beyond ' +
          'tokens at list prices (more candidates, searches and other tools, faster service, audio) are refused, and so are unknown ones.',
        example: { openai: { store: false } },
      })
      .optional(),
  })
  .meta({ id: 'ModelParameters' });

export type ModelParameters = z.infer<typeof ModelParameters>;
