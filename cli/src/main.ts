#!/usr/bin/env -S node --conditions=pms-source
import './node-20.ts';
import process from 'node:process';
import { runProgram } from './run-program.ts';

const { stdin, stdout, stderr, env } = process;
// The reader has closed the pipe, as `head` does.
stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error;
});
const status = await runProgram({ stdin, stdout, stderr, env }, process.argv.slice(2));
// Something may have failed in the meantime.
if (status !== 0) process.exitCode = status;
