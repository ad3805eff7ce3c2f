import { v5 } from 'uuid';

/** RFC 9562, section 5.5: of the names that this service makes of the scores of reviews. */
const NAMESPACE = 'b6cdb2a4-3c8e-4f0e-8f6b-2a9d1c7e5f30';

/** The id of what a reviewer says of an item of a queue: saying it again replaces it. UUID. */
export const reviewScoreId = (itemId: string, reviewer: string, name: string): string =>
  v5(JSON.stringify([itemId, reviewer, name]), NAMESPACE);
