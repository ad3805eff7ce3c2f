import type { Command } from 'commander';
import type { Context } from '../context.ts';

/** `pms init`. */
export function fillInit(_command: Command, _context: Context): void {}
