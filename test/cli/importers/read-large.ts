import process from 'node:process';
import { planFiles } from './support.ts';

// Plans an import, and prints how many examples it has, and the report.
const [source = '', location = ''] = process.argv.slice(2);
const { steps, report } = await planFiles(source, location);
const examples = steps.reduce((sum, step) => sum + (step.kind === 'dataset' ? step.examples : 0), 0);
process.stdout.write(JSON.stringify({ examples, report }));
