import { KEEP_ALIVE, serverSentEvent } from '../../http/event-stream.ts';
import {
  getImprovement,
  type ImprovementRow,
  type Progress,
  readProgress,
} from '../../services/improvements/improvements.ts';
import type { ProgressFormat } from '../../services/streams/progress-hub.ts';
import { presentImprovement } from './presenter.ts';

/** The event stream of an improvement, whose events hold the complete state, too. */
export const improvementStream: ProgressFormat<{ row: ImprovementRow; progress: Progress | undefined }> = {
  table: 'improvements',
  async read(db, id) {
    const row = await getImprovement(db.query, id);
    return { row, progress: (await readProgress(db.query, [row.id])).get(row.id) };
  },
  statusOf: ({ row }) => row.status,
  keepAlive: KEEP_ALIVE,
  encode(step, { row, progress }) {
    const type = `improvement.${step}`;
    const improvement = presentImprovement(row, progress?.counts ?? {}, progress?.base);
    return serverSentEvent({ event: type, data: { type, improvement } });
  },
};
