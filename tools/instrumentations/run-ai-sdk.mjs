// An agent with a tool, in the AI SDK with its own instrumentation; with `legacy` as the first argument, under legacy names.
import process from 'node:process';
import { createOpenAI } from '@ai-sdk/openai';
import { LegacyOpenTelemetry, OpenTelemetry } from '@ai-sdk/otel';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import { NodeSDK } from '@opentelemetry/sdk-node';
import { SimpleSpanProcessor } from '@opentelemetry/sdk-trace';
import { generateText, registerTelemetry, stepCountIs, streamText, tool } from 'ai';
import { z } from 'zod';

const known = { 'session.id': 'conversation-1', 'user.id': 'user-1', 'pms.prompt.name': 'weather', 'pms.prompt.version': 3 };
const copyAttributes = {
  onStart: (span) => span.setAttributes(known),
  onEnd() {},
  forceFlush: async () => {},
  shutdown: async () => {},
};
const sdk = new NodeSDK({
  spanProcessors: [copyAttributes, new SimpleSpanProcessor({ exporter: new OTLPTraceExporter() })],
});
sdk.start();
const isLegacy = process.argv[2] === 'legacy';
if (isLegacy) registerTelemetry(new LegacyOpenTelemetry());
else registerTelemetry(new OpenTelemetry());
const getWeather = tool({
  description: 'The weather of a city.',
  inputSchema: z.object({ city: z.string() }),
  execute: ({ city }) => `21 degrees in ${city}`,
});
const call = {
  model: createOpenAI({ baseURL: process.env.OPENAI_BASE_URL }).chat('gpt-4o-mini'),
  instructions: 'Be short.',
  prompt: 'What is the weather in Paris?',
  tools: { get_weather: getWeather },
  stopWhen: stepCountIs(3),
  telemetry: { functionId: 'weather_agent' },
};
process.stdout.write(isLegacy ? await streamText(call).text : (await generateText(call)).text);
await sdk.shutdown();
