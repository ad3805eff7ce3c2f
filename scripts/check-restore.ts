import process from 'node:process';
import { type Moment, prepareMoments, restore } from '../test/support/restore-drill.ts';
const moments = await prepareMoments();
console.log('moments made');
try {
  for (const pair of process.argv.slice(2)) {
    const [database, temporal] = pair.split('/') as [Moment, Moment | 'empty'];
    console.log(pair, JSON.stringify(await restore(moments, { database, temporal }), undefined, 1));
  }
} finally { await moments.remove(); }
process.exit();
