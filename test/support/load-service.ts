// Loads API and workers without starting them, and exits.
import '../../src/api/server.ts';
import '../../src/worker.ts';
import process from 'node:process';

process.exit();
