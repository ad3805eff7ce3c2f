import { startAnthropicServer } from './anthropic.ts';
import { runStandIn } from './run.ts';

await runStandIn(startAnthropicServer);
