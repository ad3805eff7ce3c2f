import { createRequire, registerHooks } from 'node:module';
import path from 'node:path';
import process from 'node:process';
import { pathToFileURL } from 'node:url';
import { current } from './current.mjs';

/**
 * Runs a test file with jest-circus in the process itself, not in a separate context: Node.js loads modules once for all files of a Jest
 * worker process. In separate contexts, loading the service took most of the time of most files. Test files therefore share module state.
 *
 * A `testRunner` of Jest (jest.config.js). It calls the adapter of jest-circus like `jest-circus/runner` does.
 */
const require = createRequire(import.meta.url);
const ADAPTER = path.join(path.dirname(require.resolve('jest-circus/package.json')), 'build', 'jestAdapterInit.js');
/** The key of jest-circus's event handlers, which would otherwise include those of the previous file. */
const EVENT_HANDLERS = Symbol.for('EVENT_HANDLERS');

registerHooks({
  resolve(specifier, context, next) {
    if (specifier === '@jest/globals') return { url: new URL('./globals.mjs', import.meta.url).href, shortCircuit: true };
    // The client's sources, as for the other programs of the repository: tests need no build.
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
