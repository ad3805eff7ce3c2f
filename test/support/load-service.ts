// Loads API and workers, starts neither, and ends.
import '../../src/api/server.ts';
import '../../src/worker.ts';
import process from 'node:process';

process.exit();
