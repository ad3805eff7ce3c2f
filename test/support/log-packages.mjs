// With `--import`: writes a line for each package of OpenTelemetry that a process loads.
import { registerHooks } from 'node:module';

const seen = new Set();
registerHooks({
  resolve(specifier, context, nextResolve) {
    const resolved = nextResolve(specifier, context);
    const name = /node_modules\/(@opentelemetry\/[^/]+)\//.exec(resolved.url)?.[1];
    if (name !== undefined && !seen.has(name)) process.stdout.write(`loads ${name}\n`);
    seen.add(name);
    return resolved;
  },
});
