#!/usr/bin/env -S node --conditions=pms-source
import process from 'node:process';
import { Command } from 'commander';

await new Command('pms').description('The command line of the Prompt Management Service.').parseAsync(process.argv);
