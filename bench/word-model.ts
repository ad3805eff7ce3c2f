import process from 'node:process';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { startWordModel, type WordCall } from '../test/support/word-model.ts';

// A model that streams `--words` words, `--rate` per second. Each word is the time at which it was sent, in milliseconds, so
// that the reader knows its travel time. Prints its port when it is ready.

const { values } = parseArgs({
  options: { words: { type: 'string', default: '150' }, rate: { type: 'string', default: '50' } },
});
const [words, rate] = [Number(values.words), Number(values.rate)];

async function speak(call: WordCall): Promise<void> {
  const begun = performance.now();
  for (let word = 1; word <= words && !call.isGone(); word += 1) {
    // Relative to the start, so that late timers do not add up.
    await delay(Math.max(0, begun + (word * 1000) / rate - performance.now()));
    call.say(`${(performance.timeOrigin + performance.now()).toFixed(2)} `);
  }
  call.finish();
}

const model = await startWordModel((call) => void speak(call));
process.stdout.write(`${new URL(model.baseUrl).port}\n`);
process.once('SIGTERM', () => process.exit());
