import type { Selection } from '../support/guides.ts';

/** Blocks that `guides.test.ts` does not run as they are printed. */
interface Claim extends Selection {
  /** The test file that runs them (it fails if it leaves one out), or the script of a job apart from the tests. */
  by?: string;
  /** Why no test runs them as printed, and what runs the same. */
  because?: string;
}

const drawing = 'is a drawing for people';
const printed = 'is what a command printed for data that the page does not have';

export const CLAIMS: readonly Claim[] = [
  // README.md
  {
    page: 'README.md',
    has: 'git clone',
    because: 'clones from an address that only its reader knows; test/e2e/npm-start.test.ts runs npm start',
  },
  { page: 'README.md', has: 'docker compose', by: 'scripts/check-containers.ts' },

  // Pages with a separate test
  { page: 'docs/how-to.md', by: 'test/docs/how-to.test.ts' },
  { page: 'docs/frameworks.md', by: 'test/docs/how-to.test.ts' },
  { page: 'docs/migrating/openai.md', language: 'ts', by: 'test/docs/how-to.test.ts' },
  { page: 'docs/clients/requests.md', by: 'test/docs/requests.test.ts' },
  { page: 'docs/clients/typescript.md', language: 'ts', by: 'test/docs/clients.test.ts' },
  { page: 'docs/clients/python.md', language: 'python', by: 'test/clients/python.test.ts' },
  { page: 'docs/traces.md', section: 'Sending traces', language: 'js', by: 'test/api/traces/exporter.test.ts' },
  // test/docs/traces.test.ts compares them with the script.
  { page: 'docs/traces.md', section: 'Frameworks', by: 'scripts/capture-spans.ts' },
  { page: 'docs/evaluators.md', language: 'ts', by: 'test/docs/evaluators.test.ts' },
  { page: 'docs/evaluators.md', section: 'http', language: 'json', by: 'test/docs/evaluators.test.ts' },
  { page: 'docs/releases.md', has: 'curl', by: 'test/docs/releases.test.ts' },
  {
    page: 'docs/improvements.md',
    language: 'json',
    because:
      'needs the models of a provider; it is the sample of the reference, which the tests of all operations send with others',
  },
  { page: 'docs/scores.md', language: 'html', by: 'test/docs/scores.test.ts' },
  { page: 'docs/webhooks.md', language: 'json', by: 'test/docs/webhooks.test.ts' },
  { page: 'docs/webhooks.md', language: 'ts', by: 'test/docs/webhooks.test.ts' },
  { page: 'docs/webhooks.md', language: 'python', by: 'test/docs/webhooks.test.ts' },
  { page: 'docs/webhooks.md', language: 'go', by: 'test/docs/webhooks.test.ts' },
  { page: 'docs/webhooks.md', has: 'openssl dgst', by: 'test/docs/webhooks.test.ts' },
  { page: 'docs/cli.md', has: 'on: pull_request', by: 'test/cli/ci.test.ts' },
  { page: 'docs/cli.md', has: 'image: node:24', by: 'test/cli/ci.test.ts' },
  { page: 'docs/cli.md', has: 'pms traces', by: 'test/cli/traces.test.ts' },
  ...(
    [
      ['GitHub', 'yaml'],
      ['GitHub', 'text'],
      ['OpenAI: evals and stored prompts', 'json'],
      ['OpenAI: evals and stored prompts', 'yaml'],
      ['OpenAI: evals and stored prompts', 'text'],
      ['Dotprompt', 'handlebars'],
      ['Dotprompt', 'text'],
      ['Prompty', 'markdown'],
      ['Prompty', 'text'],
      ['LangSmith', 'json'],
      ['LangSmith', 'text'],
      ['Braintrust', 'json'],
      ['Braintrust', 'csv'],
      ['Braintrust', 'text'],
      ['PromptLayer', 'json'],
      ['PromptLayer', 'text'],
    ] as const
  ).map(([section, language]) => ({
    page: 'docs/importers.md',
    section,
    language,
    by: 'test/cli/import-sources.test.ts',
  })),
  { page: 'skills/prompt-management/SKILL.md', by: 'test/docs/skill.test.ts' },

  // Installing packages that no registry has
  { page: 'cli/README.md', has: 'npm install', by: 'test/clients/shipped-packages.test.ts' },
  { page: 'docs/cli.md', has: 'npm pack', by: 'test/clients/shipped-packages.test.ts' },
  { page: 'docs/clients/typescript.md', has: 'npm pack', by: 'test/clients/shipped-packages.test.ts' },
  { page: 'clients/typescript/README.md', has: 'npm install', by: 'test/clients/shipped-packages.test.ts' },
  {
    page: 'clients/python/README.md',
    has: 'pip install ./pms_client',
    because: 'installs the wheel of a release; test/release/packages.test.ts builds and installs it',
  },
  {
    page: 'docs/clients/python.md',
    has: 'pip install',
    because:
      'opens a Python to type into; test/release/packages.test.ts installs the package, test/clients/python.test.ts runs what is typed',
  },
  {
    page: 'clients/python/README.md',
    has: 'scripts/generate.py',
    because:
      'installs packages and runs the tests of the client; test/clients/python.test.ts does, in an environment that it keeps',
  },

  {
    page: 'docs/importers.md',
    has: 'git lfs',
    because: 'needs Git LFS and a clone of the repository openai/evals, some gigabytes',
  },

  // Requires a person, or runs until it is stopped
  {
    page: 'docs/cli.md',
    has: 'pms login --with-key',
    because: 'waits for a person at a browser and a terminal; test/cli/login.test.ts plays that person',
  },
  {
    page: 'cli/README.md',
    has: 'pms login --url',
    because: 'waits for a person at a browser; test/cli/login.test.ts plays that person',
  },
  {
    page: 'docs/importers.md',
    has: 'npm start',
    because: 'runs a server until it is stopped; test/cli/importers/promptfoo-scorer.test.ts runs it',
  },
  {
    page: 'docs/operations.md',
    has: 'npm run worker',
    because: 'runs servers until they are stopped; test/e2e/two-processes.test.ts runs them',
  },
  {
    page: 'docs/operations.md',
    has: 'workspace delete NAME',
    because: 'asks for the name at a terminal; test/admin/admin.test.ts types it',
  },
  {
    page: 'docs/payload-encryption.md',
    has: 'npm run codec-server',
    because:
      'runs a server until it is stopped; test/codec-server/codec-server.test.ts runs it, with the same command line of Temporal',
  },

  // Minutes to hours, or programs that a job apart from the tests installs
  { page: 'docs/performance.md', because: 'are benchmarks, which measure a quiet machine for minutes to hours' },
  {
    page: 'docs/reliability.md',
    because: 'are the same tests at full size, and benchmarks: minutes to hours on a quiet machine',
  },
  { page: 'docs/operations.md', has: 'docker compose', by: 'scripts/check-containers.ts' },
  { page: 'deploy/helm/prompt-management-service/README.md', by: 'scripts/check-chart.ts' },
  { page: 'docs/clients/other-languages.md', by: 'scripts/check-generated-clients.ts' },
  { page: 'docs/backup.md', has: 'npm run backup', by: 'scripts/check-restore.ts' },
  { page: 'docs/backup.md', has: 'controlChanged', by: 'scripts/check-restore.ts' },
  {
    page: 'docs/backup.md',
    section: 'To a point in time',
    because:
      'changes the configuration of a PostgreSQL server; scripts/check-restore.ts restores one to a point in time',
  },
  {
    page: 'docs/backup.md',
    has: 'pg_dump',
    because:
      'needs the programs of PostgreSQL, which not every machine has; scripts/check-restore.ts installs them and does the same',
  },
  { page: 'docs/versioning.md', by: 'scripts/release.ts' },
  {
    page: 'docs/batches.md',
    has: '--mode batch',
    because:
      'waits as long as the provider, up to a day; test/cli/batches.test.ts runs it with a provider that is quick',
  },
  {
    page: 'docs/batches.md',
    has: 'resubmit',
    because: 'needs a batch whose submission got no answer; test/api/evaluations and test/cli/batches.test.ts make one',
  },

  // Configurations of other programs, with a reader's own hosts and keys
  {
    page: 'docs/telemetry.md',
    language: '',
    because:
      'sets what OpenTelemetry reads for hosts that only their readers have; test/telemetry/telemetry.test.ts sets the same',
  },
  {
    page: 'docs/operations.md',
    has: 'tcld namespace',
    because: 'needs an account of Temporal Cloud; its names are compared with those of the command above it',
  },

  // Pictures and samples of output
  { page: 'docs/architecture.md', language: 'mermaid', because: drawing },
  { page: 'docs/guarantees.md', language: 'mermaid', because: drawing },
  ...['executions', 'evaluations', 'batches', 'webhooks', 'releases', 'improvements', 'monitors', 'rules'].map(
    (guide) => ({
      page: `docs/${guide}.md`,
      language: 'mermaid',
      by: 'test/docs/state-diagrams.test.ts',
    }),
  ),
  { page: 'docs/runbook.md', language: 'text', because: printed },
  { page: 'docs/runbook.md', language: 'json', has: 'unreachable', because: printed },
  { page: 'docs/importers.md', section: 'A first import', language: 'text', because: printed },
  { page: 'docs/cli.md', section: 'Profiles', language: '', because: printed },
  { page: 'docs/cli.md', section: 'Executions and logs', language: '', because: printed },
  { page: 'docs/cli.md', section: 'Webhooks, also to this machine', language: '', because: printed },
];

/** The blocks that a test file must run. */
export const claimsOf = (file: string): readonly Selection[] => CLAIMS.filter(({ by }) => by === file);
