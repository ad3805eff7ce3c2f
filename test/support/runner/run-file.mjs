import { createRequire, registerHooks } from 'node:module';
import path from 'node:path';
import process from 'node:process';
import { pathToFileURL } from 'node:url';
import { current } from './current.mjs';

/**
 * Runs a test file with jest-circus in the process itself, and not in a context of its own: modules are loaded by Node.js, once for all files that
 * a worker process of Jest runs. In contexts of their own, loading the service took most of the time of most files. Test files share what
 * modules keep, so a module that keeps something keeps it for all of them.
 *
 * A `testRunner` of Jest (jest.config.js). It calls the adapter of jest-circus as `jest-circus/runner` does.
 */
const require = createRequire(import.meta.url);
const ADAPTER = path.join(path.dirname(require.resolve('jest-circus/package.json')), 'build', 'jestAdapterInit.js');
/** Under which jest-circus keeps who hears of events: of the file before, too, where it is not taken away. */
const EVENT_HANDLERS = Symbol.for('EVENT_HANDLERS');

registerHooks({
  resolve(specifier, context, next) {
    if (specifier === '@jest/globals') return { url: new URL('./globals.mjs', import.meta.url).href, shortCircuit: true };
    // The client's sources, as the other programs of the repository take them: nothing has to be built before a test.
    return next(specifier, { ...context, conditions: [...context.conditions, 'pms-source'] });
  },
});

export default async function runFile(globalConfig, config, environment, runtime, testPath, sendMessageToJest) {
  delete require.cache[ADAPTER];
  delete globalThis[EVENT_HANDLERS];
  const { initialize, runAndTransformResultsToJestFormat } = require(ADAPTER);
  await initialize({
    config,
    environment,
    globalConfig,
    localRequire: require,
    parentProcess: process,
    runtime,
    sendMessageToJest,
    setGlobalsForRuntime: (globals) => Object.assign(current, globals),
    testPath,
  });
  await import(pathToFileURL(testPath).href);
  const now = Date.now();
  return runAndTransformResultsToJestFormat({
    config,
    globalConfig,
    setupAfterEnvPerfStats: { setupAfterEnvStart: now, setupAfterEnvEnd: now },
    testPath,
  });
}
