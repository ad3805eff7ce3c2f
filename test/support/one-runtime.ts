import { IllegalStateError } from '@temporalio/common';
import { Runtime } from '@temporalio/worker';

// A process has one runtime of Temporal's SDK, and the service refuses a second. A test file's process may have both a shared and a
// separate service: later ones use the existing runtime.
const install = Runtime.install.bind(Runtime);
Runtime.install = (options) => {
  try {
    return install(options);
  } catch (error) {
    if (error instanceof IllegalStateError) return Runtime.instance();
    throw error;
  }
};
