import { mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as delay } from 'node:timers/promises';
import { Connection } from '@temporalio/client';
import { z } from 'zod';
import { adviceFor, EmbeddedStartError, messageOf } from '../errors.ts';
import { endOrphan } from '../orphan.ts';
import { choosePort, isListening, isPortFree } from '../ports.ts';
import { endWithParent } from '../programs/programs.ts';
import { type ServerExit, type ServerProcess, spawnServer } from '../server-process.ts';
import { argumentsOf, DEV_SERVER } from './temporal-arguments.ts';

/**
 * Indexes of the list of executions that are not needed here: the service has six attributes of type Keyword, and operators search
 * executions by id, type, status, times, parent, and these attributes.
 */
const SPARE_INDEXES = [
  'by_execution_time',
  'by_history_length',
  'by_history_size_bytes',
  'by_state_transition_count',
  'by_task_queue',
  'by_parent_run_id',
  'by_root_run_id',
  'by_batcher_user',
  'by_temporal_scheduled_start_time',
  'by_temporal_schedule_paused',
  'by_temporal_pause_info',
  'by_temporal_worker_deployment_version',
  'by_temporal_workflow_versioning_behavior',
  'by_temporal_worker_deployment',
  ...['bool', 'datetime', 'double', 'int'].flatMap((type) => [1, 2, 3].map((nth) => `by_${type}_0${nth}`)),
  ...['07', '08', '09', '10'].map((nth) => `by_keyword_${nth}`),
];
/** Temporal writes to the file as well. */
const WAIT_FOR_LOCK_MS = 5_000;

/**
 * Drops indexes of the list of executions in Temporal's SQLite file, whose server may be running. Each execution is written to all 45,
 * and SQLite compiles that statement each time: without these it takes a third less. A search by their columns still works, but scans
 * the whole list.
 */
function dropSpareIndexes(dbFile: string): void {
  // Temporal's schema has texts in double quotes.
  const database = new DatabaseSync(dbFile, { timeout: WAIT_FOR_LOCK_MS, enableDoubleQuotedStringLiterals: true });
  try {
    for (const name of SPARE_INDEXES) database.exec(`drop index if exists ${name}`);
  } finally {
    database.close();
  }
}

/** The heap growth in percent after which Go collects garbage; the default of 100 takes an eighth of the server's CPU time. */
const GOGC = '200';
const READY_TIMEOUT_MS = 60_000;
const PORT_ATTEMPTS = 3;

export interface TemporalOptions {
  /** Path of the Temporal CLI: see `ensureTemporal`. */
  binary: string;
  /** The folder of the server's state; created if missing. One process at a time: see `lockDataDir`. Default: in memory. */
  dbFile?: string | undefined;
  /** Preferred loopback port of the frontend. Default: the one of the last start on `dbFile`, at first any free one. */
  port?: number | undefined;
  /** Preferred ports of its HTTP API and of its metrics. Default: any free ones. */
  sidePorts?: readonly [number, number] | undefined;
  /** Loopback port of the web UI; 0 (the default) for no UI. */
  uiPort?: number | undefined;
  /** Created if missing. */
  namespace: string;
  /** Receives messages for the operator, and the server's errors. */
  log: (line: string) => void;
  /** Server settings by name: https://docs.temporal.io/references/dynamic-configuration */
  dynamicConfig?: Record<string, string | number | boolean> | undefined;
}

/** A running Temporal development server on this machine. */
export interface EmbeddedTemporal {
  /** `host:port` of the frontend. */
  address: string;
  sidePorts: readonly [number, number];
  /** Undefined without a UI. */
  uiUrl: string | undefined;
  pid: number;
  running(): boolean;
  /** Settles when the server has ended, through `stop` or unexpectedly. */
  exited: Promise<ServerExit>;
  /** Stops it in an orderly way, forcibly after 10 s. */
  stop(): Promise<void>;
}

/**
 * Starts Temporal's development server and waits until its frontend responds for the namespace. On Linux it ends with
 * this process, even if that is killed; elsewhere the next start on the same `dbFile` ends it.
 *
 * A killed process loses nothing that was acknowledged. A power cut may lose the last moments, never the file: SQLite
 * syncs its log at checkpoints only, since a sync for every workflow step more than halves what the server can do.
 *
 * @throws {EmbeddedStartError} `port_taken` for the UI's port, otherwise `temporal_failed`.
 */
export async function startTemporal(options: TemporalOptions): Promise<EmbeddedTemporal> {
  const { log, uiPort = 0 } = options;
  const dbFile = options.dbFile === undefined ? undefined : path.resolve(options.dbFile);
  const last = dbFile === undefined ? undefined : await readNotes(dbFile);
  if (dbFile !== undefined) {
    await makeFolder(path.dirname(dbFile));
    if (last) await stopOrphan(last.pid, dbFile, log);
  }
  if (uiPort !== 0 && !(await isPortFree(uiPort))) {
    throw new EmbeddedStartError(
      'port_taken',
      `Port ${uiPort} is taken, so Temporal's UI cannot start. Stop what listens there, or set TEMPORAL_UI_PORT to ` +
        'another port.',
    );
  }
  for (let attempt = 1; ; attempt += 1) {
    const port = await choosePort(options.port ?? last?.port, 'Temporal', log);
    const [http, metrics] = options.sidePorts ?? [];
    const sidePorts = [await choosePort(http, 'Temporal', log), await choosePort(metrics, 'Temporal', log)] as const;
    const command = [options.binary, ...argumentsOf({ ...options, dbFile, port, sidePorts, uiPort })];
    const server = await spawnDevServer(await endWithParent(command, 'KILL'), log);
    if (dbFile !== undefined) await rememberServer(server, dbFile, port);
    const address = `127.0.0.1:${port}`;
    if (await becomesReady(server, address, options.namespace)) {
      if (dbFile !== undefined) makeListCheap(dbFile, log);
      return {
        address,
        sidePorts,
        uiUrl: uiPort === 0 ? undefined : `http://127.0.0.1:${uiPort}`,
        pid: server.pid,
        exited: server.exited,
        running: () => server.running(),
        stop: () =>
          server.end([
            { signal: 'SIGTERM', ms: 10_000 },
            { signal: 'SIGKILL', ms: 5_000 },
          ]),
      };
    }
    // The server's internal services choose their own ports, and another program may have taken one.
    const portWasTaken = !(await isPortFree(port)) || /address already in use/i.test(server.log());
    if (attempt >= PORT_ATTEMPTS || !portWasTaken) throw didNotStart(server.log());
  }
}

async function spawnDevServer(command: readonly string[], log: (line: string) => void): Promise<ServerProcess> {
  const onLine = (line: string) => {
    if (/level=(ERROR|FATAL)/i.test(line)) log(`Temporal: ${line}`);
  };
  // Settings of the user's own Temporal client must not reach this server.
  const ownEnv = Object.entries(process.env).filter(([name]) => !name.startsWith('TEMPORAL_'));
  const env = { GOGC, ...Object.fromEntries(ownEnv) };
  try {
    return await spawnServer(command, { env, onLine });
  } catch (error) {
    throw new EmbeddedStartError(
      'temporal_failed',
      `Temporal could not be started from ${command.at(0)}: ${messageOf(error)}`,
      {
        cause: error,
      },
    );
  }
}

function makeListCheap(dbFile: string, log: (line: string) => void): void {
  try {
    dropSpareIndexes(dbFile);
  } catch (error) {
    log(`Temporal: spare indexes of its list of executions stay, which makes it slower: ${messageOf(error)}`);
  }
}

/** Ready when the namespace can be described: the port opens before the server behind it works. */
async function becomesReady(server: ServerProcess, address: string, namespace: string): Promise<boolean> {
  const until = Date.now() + READY_TIMEOUT_MS;
  while (server.running() && Date.now() < until) {
    if ((await isListening(address)) && (await responds(address, namespace))) return server.running();
    await delay(50);
  }
  await server.end([{ signal: 'SIGKILL', ms: 5_000 }]);
  return false;
}

async function responds(address: string, namespace: string): Promise<boolean> {
  const connection = Connection.lazy({ address });
  try {
    await connection.withDeadline(Date.now() + 5_000, () =>
      connection.workflowService.describeNamespace({ namespace }),
    );
    return true;
  } catch {
    return false;
  } finally {
    await connection.close();
  }
}

function didNotStart(output: string, cause?: unknown): EmbeddedStartError {
  const advice = adviceFor(output) ?? 'Fix what it reports, or set TEMPORAL_ADDRESS to your own Temporal server.';
  return new EmbeddedStartError(
    'temporal_failed',
    `Temporal did not start. ${advice} Its output:\n${output.slice(-1500)}`,
    {
      cause,
    },
  );
}

const notesSchema = z.object({ pid: z.number().int(), port: z.number().int() });

function notesFile(dbFile: string): string {
  return `${dbFile}.server.json`;
}

async function readNotes(dbFile: string): Promise<z.infer<typeof notesSchema> | undefined> {
  try {
    return notesSchema.parse(JSON.parse(await readFile(notesFile(dbFile), 'utf8')));
  } catch {
    // The file does not exist yet, or was cut off by a kill: the last start is unknown.
    return undefined;
  }
}

/** Without the note, the next start could not end an orphaned server. */
async function rememberServer(server: ServerProcess, dbFile: string, port: number): Promise<void> {
  const notes: z.infer<typeof notesSchema> = { pid: server.pid, port };
  try {
    await writeFile(notesFile(dbFile), JSON.stringify(notes), { mode: 0o600 });
  } catch (error) {
    await server.end([{ signal: 'SIGKILL', ms: 5_000 }]);
    throw didNotStart(messageOf(error), error);
  }
}

async function makeFolder(folder: string): Promise<void> {
  try {
    await mkdir(folder, { recursive: true, mode: 0o700 });
  } catch (error) {
    throw didNotStart(messageOf(error), error);
  }
}

/** Two servers on one file would both run its workflows. */
async function stopOrphan(pid: number, dbFile: string, log: (line: string) => void): Promise<void> {
  const isServer = (line: string) => line.includes(DEV_SERVER.join(' ')) && ` ${line} `.includes(` ${dbFile} `);
  if (await endOrphan({ pid, what: 'Temporal', isServer, signals: ['SIGTERM', 'SIGKILL'], log })) return;
  throw new EmbeddedStartError(
    'temporal_failed',
    `A Temporal of an earlier run (pid ${pid}) holds ${dbFile} and does not stop. End it, then start again.`,
  );
}
