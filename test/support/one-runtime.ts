import { IllegalStateError } from '@temporalio/common';
import { Runtime } from '@temporalio/worker';

// A process has one runtime of Temporal's SDK, and the service refuses a second. The process of a test file may have a service that files share,
// and one of the file's own beside it: what comes later goes by the runtime that is there.
const install = Runtime.install.bind(Runtime);
Runtime.install = (options) => {
  try {
    return install(options);
  } catch (error) {
    if (error instanceof IllegalStateError) return Runtime.instance();
    throw error;
  }
};
