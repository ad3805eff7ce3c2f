import process from 'node:process';
import { startOpenAiServer } from '../test/support/providers/openai.ts';
import { attackBudgets, DEAR } from './attack-budgets.ts';
import { attackByHolders } from './attack-holders.ts';
import { attackByControls } from './attack-policies.ts';
import { attackStorage, STORAGE_QUOTAS } from './attack-storage.ts';
import { AUTHORITY, attackByWork } from './attack-work.ts';
import type { Means } from './means.ts';
import type { Outcome, Row } from './report.ts';
import { neighbourKey } from './second-workspace.ts';
import type { Servers } from './servers.ts';
import { startService } from './service.ts';

const RATE_LIMIT = 6_000;
/** Runs only attacks whose name matches: holders, controls, budgets, storage, work. */
const NAMES = new RegExp(process.env['ATTACKS'] ?? '');

/** Attacks of a caller with a key, at full size, against the whole service. Each attack has its own service. */
export async function measureAttacks(servers: Servers, { report, profileFolder }: Means): Promise<Outcome> {
  const model = await startOpenAiServer({
    keepCalls: false,
    answer: ({ prompt }) => ({
      text: prompt.includes('Is it dear?') ? '{"reason": "It is.", "score": 5}' : 'An answer.',
      ...(prompt.includes('dear') && { usage: DEAR }),
    }),
  });
  const common = { OPENAI_API_KEY: 'x', OPENAI_BASE_URL: model.baseUrl, WEBHOOK_ALLOW_PRIVATE: 'true' };
  const workspaceKey = (name: string) => neighbourKey(servers.databaseUrl, name);
  type Attack = [
    settings: Record<string, string>,
    attack: (service: Awaited<ReturnType<typeof startService>>) => Promise<Row[]>,
  ];
  const attacks: Record<string, Attack> = {
    holders: [{ RATE_LIMIT_PER_MINUTE: String(RATE_LIMIT) }, (service) => attackByHolders(service, RATE_LIMIT)],
    controls: [{}, attackByControls],
    budgets: [{}, (service) => attackBudgets(service, model)],
    storage: [STORAGE_QUOTAS, (service) => attackStorage(service, servers.databaseUrl, workspaceKey, report)],
    work: [
      { NODE_EXTRA_CA_CERTS: AUTHORITY },
      async (service) => attackByWork(service, await workspaceKey('neighbour'), report),
    ],
  };
  const rows: Row[] = [];
  try {
    for (const [name, [settings, attack]] of Object.entries(attacks)) {
      if (!NAMES.test(name)) continue;
      const service = await startService(servers, { ...common, ...settings }, profileFolder);
      try {
        rows.push(...(await attack(service)));
      } finally {
        await service.stop();
      }
    }
    return { benchmark: 'attacks', rows };
  } finally {
    await model.close();
  }
}
