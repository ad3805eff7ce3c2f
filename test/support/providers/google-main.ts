import { startGoogleServer } from './google.ts';
import { runStandIn } from './run.ts';

await runStandIn(startGoogleServer);
