import { labelRoutes } from '../api/labels/routes.ts';
import { promptRoutes } from '../api/prompts/routes.ts';
import { everyRow, toDelete } from '../db/delete-in-batches.ts';
import { PROMPT_TOOLS } from '../mcp/tools/prompt-tools.ts';
import type { Capability } from './capability.ts';

export const prompts: Capability = {
  name: 'prompts',
  routes: (parts) => [...promptRoutes(parts), ...labelRoutes(parts)],
  tools: PROMPT_TOOLS,
  rows: [
    toDelete('prompt_includes', () => everyRow),
    toDelete('prompt_versions', (eb) => ({
      where: eb('prompt_id', 'in', eb.selectFrom('prompts').select('id')),
      bytes: eb.ref('bytes'),
    })),
    toDelete('prompts', () => everyRow),
    toDelete('protected_labels', () => everyRow),
    toDelete('label_policies', () => everyRow),
  ],
};
