import { setTimeout as delay } from 'node:timers/promises';
import { z } from 'zod';
import {
  BASE_TEXT,
  examplesOf,
  hiddenRules,
  REFLECTOR,
  ruleText,
  taskPrompt,
  trueScore,
} from '../test/support/hidden-rules.ts';
import { startOpenAiServer } from '../test/support/providers/openai.ts';
import type { Means } from './means.ts';
import { type Outcome, row } from './report.ts';
import type { Servers } from './servers.ts';
import { startService } from './service.ts';

const SEEDS = 20;
const RULES = 8;
const EXAMPLES = 200;
/** Searches that run beside each other. */
const AT_ONCE = 2;
/** Three of the eight rules: about a fifth of the examples need no other. */
const TEXT = `${BASE_TEXT}\n${ruleText(2)}\n${ruleText(3)}`;

const Improvement = z.object({
  id: z.string(),
  status: z.string(),
  spent: z.object({ calls: z.int(), reflections: z.int(), cost: z.number() }),
  verdict: z
    .object({
      result: z.string(),
      candidate: z.int().nullable(),
      score: z.number().nullable(),
      score_base: z.number().nullable(),
    })
    .nullable(),
});
const Candidate = z.object({ content: z.object({ messages: z.array(z.object({ content: z.string() })) }) });

/** Searches for eight hidden rules, through the whole service, with twenty seeds. */
export async function measureImprovementSeeds(servers: Servers, { report, rounds = SEEDS }: Means): Promise<Outcome> {
  const openai = await startOpenAiServer({ answer: hiddenRules(), keepCalls: false });
  const service = await startService(servers, {
    OPENAI_API_KEY: 'x',
    OPENAI_BASE_URL: openai.baseUrl,
    QUOTA_IMPROVEMENTS: '0',
  });
  const search = async (seed: number) => {
    const name = `seed/${seed}`;
    await service.call('POST', '/prompts', taskPrompt(name, TEXT));
    const response = await fetch(`${service.origin}/v1/datasets/${name}`, {
      method: 'PUT',
      headers: { authorization: `Bearer ${service.key}`, 'content-type': 'application/x-ndjson' },
      // Other examples for each seed, so that no response is reused.
      body: examplesOf(EXAMPLES, RULES, seed * EXAMPLES)
        .map((example) => JSON.stringify(example))
        .join('\n'),
    });
    if (!response.ok) throw new Error(await response.text());
    const created = await service.call('POST', '/improvements', {
      prompt_name: name,
      dataset: name,
      evaluators: [{ type: 'exact_match' }],
      reflection: { model: REFLECTOR, parameters: { max_tokens: 2_000 } },
      max_cost: 20,
      seed: String(seed),
    });
    const { id } = Improvement.parse(created);
    for (;;) {
      const found = Improvement.parse(await service.call('GET', `/improvements/${id}`));
      if (found.status !== 'running') {
        const { verdict, spent } = found;
        const number = verdict?.candidate ?? 0;
        const { content } = Candidate.parse(await service.call('GET', `/improvements/${id}/candidates/${number}`));
        const score = trueScore(content.messages[0]?.content ?? '', EXAMPLES, RULES);
        report(
          `seed ${seed}: ${verdict?.result}, ${verdict?.score_base} → ${verdict?.score}, true score ${score.toFixed(3)}, ${spent.calls} calls, ${spent.reflections} reflections`,
        );
        return {
          isProved: verdict?.result === 'improvement',
          score,
          base: verdict?.score_base ?? Number.NaN,
          heldOut: verdict?.score ?? Number.NaN,
          ...spent,
        };
      }
      await delay(1_000);
    }
  };
  try {
    const seeds = Array.from({ length: rounds }, (_, index) => index + 1);
    const found: Awaited<ReturnType<typeof search>>[] = [];
    const work = async () => {
      for (let seed = seeds.shift(); seed !== undefined; seed = seeds.shift()) found.push(await search(seed));
    };
    await Promise.all(Array.from({ length: AT_ONCE }, work));
    const proved = found.filter(({ isProved }) => isProved).length;
    const mean = found.reduce((sum, { score }) => sum + score, 0) / found.length;
    return {
      benchmark: 'improvement-seeds',
      rows: [
        row('searches with a proved improvement', '%', [(100 * proved) / found.length], { atLeast: 90 }),
        row(
          'score of the finalist on held-out examples',
          '',
          found.map(({ heldOut }) => heldOut),
        ),
        row('true score, mean over the searches', '', [mean], { atLeast: 0.85 }),
        row(
          'true score of a search',
          '',
          found.map(({ score }) => score),
        ),
        row(
          'score of the base on held-out examples',
          '',
          found.map(({ base }) => base),
        ),
        row('calls of the prompt, most', '', [Math.max(...found.map(({ calls }) => calls))], { atMost: 2_000 }),
        row('reflections, most', '', [Math.max(...found.map(({ reflections }) => reflections))], { atMost: 80 }),
      ],
    };
  } finally {
    await service.stop();
    await openai.close();
  }
}
