import { z } from 'zod';
import { notFound } from '../../domain/errors.ts';
import { ModelParameters } from '../../domain/prompts/parameters.ts';
import { ModelName } from '../../domain/prompts/prompt-version.ts';
import { FixedText } from '../../http/compression.ts';
import { pageOf } from '../../http/pagination.ts';
import { defineRoute, type Route } from '../../http/route.ts';
import type { ListedProvider, ModelCatalogue, ProviderTest as ProviderTestResult } from '../../models/model.ts';

const Usd = z.string().meta({ description: 'US dollars per million tokens.' });

const Provider = z
  .object({
    provider: z.string(),
    is_configured: z.boolean().meta({ description: 'Whether its models can be called.' }),
    setting: z.string().nullable().meta({
      description: 'The setting that enables them; null if none is needed.',
    }),
    has_batches: z.boolean().meta({ description: 'Whether evaluations can call its models in batches.' }),
    models: z
      .array(
        z.object({
          model: z.string(),
          pricing: z.object({ input: Usd, output: Usd, cached_input: Usd }).nullable().meta({
            description: 'If the price depends on the input length, the price for short inputs. Null if unknown.',
          }),
          context_window: z.int().nullable().meta({
            description:
              'The maximum number of input and output tokens together, from the price list; null if unknown.',
          }),
        }),
      )
      .meta({
        description: 'The models in the price list and in `MODEL_PRICES_FILE`, by name. Other models can be used, too.',
      }),
  })
  .meta({ id: 'Provider' });

const ProviderTest = z
  .object({
    provider: z.string(),
    ok: z.boolean().meta({ description: 'Whether the provider was reached and accepted the key.' }),
    latency_ms: z.int().meta({ description: 'From the request to the whole response.' }),
    models: z.int().nullable().meta({
      description:
        'The number of models on the first page of its list; null if the request failed or returned no list.',
    }),
    error: z
      .object({ code: z.string(), message: z.string() })
      .nullable()
      .meta({ description: 'Why the test failed, and which setting is missing, if any.' }),
  })
  .meta({ id: 'ProviderTest' });

const CheckParameters = z
  .strictObject({ model: ModelName, parameters: ModelParameters })
  .meta({ id: 'CheckParameters' });

const ParametersCheck = z
  .object({
    unsupported: z
      .array(z.object({ parameter: z.string(), message: z.string() }))
      .meta({ description: 'Parameters that would make a call fail. Empty if none is known.' }),
  })
  .meta({ id: 'ParametersCheck' });

const testSample: z.input<typeof ProviderTest> = {
  provider: 'openai',
  ok: true,
  latency_ms: 412,
  models: 78,
  error: null,
};

const ProviderList = pageOf(Provider).meta({ id: 'ProviderList' });

const providerSamples: z.input<typeof Provider>[] = [
  {
    provider: 'openai',
    is_configured: true,
    setting: 'OPENAI_API_KEY',
    has_batches: true,
    models: [
      {
        model: 'openai/gpt-4o-mini',
        pricing: { input: '0.15', output: '0.6', cached_input: '0.075' },
        context_window: 128_000,
      },
    ],
  },
  {
    provider: 'sandbox',
    is_configured: true,
    setting: null,
    has_batches: false,
    models: [{ model: 'sandbox/echo', pricing: { input: '0', output: '0', cached_input: '0' }, context_window: null }],
  },
];

function presentProvider({
  provider,
  isConfigured,
  setting,
  hasBatches,
  models,
}: ListedProvider): z.input<typeof Provider> {
  return {
    provider,
    is_configured: isConfigured,
    setting,
    has_batches: hasBatches,
    models: models.map(({ model, pricing, contextWindow }) => ({
      model,
      pricing: pricing && {
        input: pricing.input_per_million,
        output: pricing.output_per_million,
        cached_input: pricing.cached_input_per_million,
      },
      context_window: contextWindow,
    })),
  };
}

const failedTest = (
  provider: string,
  { ms, error: { code, message } }: Extract<ProviderTestResult, { error: unknown }>,
): z.input<typeof ProviderTest> => ({ provider, ok: false, latency_ms: ms, models: null, error: { code, message } });

/** How long the list is cached: the price file is checked at the same interval. */
const KEPT_MS = 1_000;

/** Serializes the list of providers once per {@link KEPT_MS}: it is long and the same for everyone. */
function providerList(models: ModelCatalogue): () => FixedText {
  let list: { text: FixedText; until: number } | undefined;
  return () => {
    if (list === undefined || list.until <= performance.now()) {
      const page = { data: models.providers().map(presentProvider), next_cursor: null };
      list = { text: new FixedText(JSON.stringify(page)), until: performance.now() + KEPT_MS };
    }
    return list.text;
  };
}

/** `/providers` */
export function providerRoutes(models: ModelCatalogue): Route[] {
  const list = providerList(models);
  return [
    defineRoute({
      method: 'get',
      path: '/providers',
      operationId: 'listProviders',
      tag: 'Providers',
      summary: 'List providers and their models, with prices',
      description:
        'Returns every provider, with or without credentials, in one page. Models that are not listed can be used if their provider offers them.',
      scope: 'read',
      response: ProviderList,
      responseExample: { data: providerSamples, next_cursor: null },
      handler: async () => list(),
    }),
    defineRoute({
      method: 'post',
      path: '/parameters/check',
      operationId: 'checkParameters',
      // Changes nothing.
      audit: 'none',
      tag: 'Providers',
      summary: 'Check whether a model supports parameters',
      description: 'Based on what the service knows about the model; nothing is sent to its provider.',
      scope: 'read',
      body: CheckParameters,
      bodyExamples: { 'A reasoning model': { model: 'openai/o3', parameters: { temperature: 0.2 } } },
      response: ParametersCheck,
      responseExample: {
        unsupported: [
          {
            parameter: 'temperature',
            message: 'openai/o3 does not accept temperature, or not with the other given parameters; omit it.',
          },
        ],
      },
      handler: async ({ body }) => ({ unsupported: await models.parameterProblems(body.model, body.parameters) }),
    }),
    defineRoute({
      method: 'post',
      path: '/providers/{name}/test',
      operationId: 'testProvider',
      // Changes nothing.
      audit: 'none',
      tag: 'Providers',
      summary: 'Test the connection to a provider',
      description:
        'Requests the model list of the provider with the configured key, which costs nothing. Waits up to 15 s; concurrent tests share one request.',
      scope: 'admin',
      params: z.object({
        name: z.string().regex(/^[a-z0-9][a-z0-9_-]{0,63}$/, 'must be the name of a provider, such as openai'),
      }),
      response: ProviderTest,
      responseExample: testSample,
      async handler({ params: { name } }) {
        const test = await models.test(name);
        if (test === undefined) throw notFound('This provider');
        return 'error' in test
          ? failedTest(name, test)
          : { provider: name, ok: true, latency_ms: test.ms, models: test.models, error: null };
      },
    }),
  ];
}
