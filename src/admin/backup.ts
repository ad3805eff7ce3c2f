import type { Command } from 'commander';
import { loadSettings } from '../config.ts';
import { backUp } from '../embedded/backup.ts';
import { AdminError } from './errors.ts';
import type { Result } from './output.ts';

/** Adds `backup`. */
export function addBackupCommand(program: Command, show: (result: Result) => void): void {
  program
    .command('backup <folder>')
    .description('copy DATA_DIR of npm start (which may be running) to a folder that a service can start from')
    .action(async (target: string) => {
      const { databaseUrl, dataDir } = loadSettings();
      if (databaseUrl !== undefined)
        throw new AdminError('DATABASE_URL is set: back up that PostgreSQL with its own tools (docs/backup.md).');
      const { folder, live, bytes } = await backUp(dataDir, target);
      show({
        json: { folder, live, bytes },
        text: `Backed up ${dataDir}${live ? ', while the service runs,' : ''} to ${folder} (${(bytes / 2 ** 20).toFixed(0)} MiB).\nIt holds the key of all secrets (encryption-key): keep it where no one else can read it. To continue from it: DATA_DIR=${folder} npm start`,
      });
    });
}
