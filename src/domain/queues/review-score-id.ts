import { v5 } from 'uuid';

/** The namespace (RFC 9562, section 5.5) for names that this service derives from review scores. */
const NAMESPACE = 'b6cdb2a4-3c8e-4f0e-8f6b-2a9d1c7e5f30';

/** The id of a reviewer's score of a queue item: submitting it again replaces it. UUID. */
export const reviewScoreId = (itemId: string, reviewer: string, name: string): string =>
  v5(JSON.stringify([itemId, reviewer, name]), NAMESPACE);
