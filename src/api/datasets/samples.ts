export const datasetSample = {
  name: 'support/greetings',
  version: 1,
  examples_total: 2,
  hash: 'sha256:0f5b9d2b6f0c4a7d1e8a3c5b7d9e1f20315a4b6c8d0e2f4a6b8c0d2e4f60718a',
  description: null,
  created_at: '2026-01-31T12:00:00.000Z',
  updated_at: '2026-01-31T12:00:00.000Z',
  version_created_at: '2026-01-31T12:00:00.000Z',
};
export const exampleSample = {
  seq: 0,
  key: 'greeting-1',
  id: 'greeting-1',
  variables: { name: 'Ada' },
  expected: 'Hello Ada!',
};

export const lineSample = '{"id":"greeting-1","variables":{"name":"Ada"},"expected":"Hello Ada!"}\n';

export const UPLOAD_DESCRIPTION = `Streams JSON Lines or CSV, in UTF-8, up to 256 MiB and 1,000,000 examples. Each upload is a new version.
An invalid line is a 400 that names it, and nothing is stored.

JSON Lines: one object a line, at most 1 MiB: \`{"id": "greeting-1", "variables": {"name": "Ada"}, "expected": "Hello Ada!", "metadata": {"source": "support"}}\`.
Only \`variables\` is required.

CSV: a header row with \`id\`, \`expected\`, \`metadata.x\`, and the variables as \`x\` or \`variables.x\`; every value is a string.
\`id\` and \`expected\` can be in any case. The delimiter is recognized: a comma, a semicolon or a tab, or the one that a first line such as
\`sep=|\` names. The response names it in \`delimiter\`.
An empty cell is an empty string for a variable and no value elsewhere.`;
