import { startOpenAiServer } from './openai.ts';
import { runStandIn } from './run.ts';

await runStandIn(startOpenAiServer);
