import { z } from 'zod';
import { pageOf } from '../../http/pagination.ts';
import { defineRoute, type Route } from '../../http/route.ts';
import type { ListedProvider, ModelCatalogue } from '../../models/model.ts';

const Usd = z.string().meta({ description: 'US dollars per million tokens.' });

const Provider = z
  .object({
    provider: z.string(),
    is_configured: z.boolean().meta({ description: 'Whether its models can be called.' }),
    setting: z.string().nullable().meta({
      description: 'What an operator sets so that they can be; null where nothing needs to be set.',
    }),
    has_batches: z.boolean().meta({ description: 'Whether evaluations can call its models by batches.' }),
    models: z
      .array(
        z.object({
          model: z.string(),
          pricing: z.object({ input: Usd, output: Usd, cached_input: Usd }).nullable().meta({
            description: 'For short inputs, where the price depends on the length; null where none is known.',
          }),
        }),
      )
      .meta({
        description: 'The models of the price list and of `MODEL_PRICES_FILE`, by name. Others can be named, too.',
      }),
  })
  .meta({ id: 'Provider' });

const ProviderList = pageOf(Provider).meta({ id: 'ProviderList' });

const providerSamples: z.input<typeof Provider>[] = [
  {
    provider: 'openai',
    is_configured: true,
    setting: 'OPENAI_API_KEY',
    has_batches: true,
    models: [{ model: 'openai/gpt-4o-mini', pricing: { input: '0.15', output: '0.6', cached_input: '0.075' } }],
  },
  {
    provider: 'sandbox',
    is_configured: true,
    setting: null,
    has_batches: false,
    models: [{ model: 'sandbox/echo', pricing: { input: '0', output: '0', cached_input: '0' } }],
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
    models: models.map(({ model, pricing }) => ({
      model,
      pricing: pricing && {
        input: pricing.input_per_million,
        output: pricing.output_per_million,
        cached_input: pricing.cached_input_per_million,
      },
    })),
  };
}

/** `/providers` */
export function providerRoutes(models: ModelCatalogue): Route[] {
  return [
    defineRoute({
      method: 'get',
      path: '/providers',
      operationId: 'listProviders',
      tag: 'Providers',
      summary: 'List providers and their models, with prices',
      description:
        'Every provider, with or without credentials, in one page. A model that is not listed can be used where its provider has it.',
      scope: 'read',
      response: ProviderList,
      responseExample: { data: providerSamples, next_cursor: null },
      handler: async () => ({ data: models.providers().map(presentProvider), next_cursor: null }),
    }),
  ];
}
