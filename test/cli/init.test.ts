import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { type Cli, startCli } from './support.ts';

let cli: Cli;
beforeEach(async () => {
  cli = await startCli();
});
afterEach(() => cli?.remove());

async function write(file: string, text: string): Promise<void> {
  const at = path.join(cli.folder, file);
  await mkdir(path.dirname(at), { recursive: true });
  await writeFile(at, text);
}

interface Found {
  prompts: { name: string; text: string; left_out: string[]; variables: Record<string, string> }[];
  skipped: { line: number; reason: string }[];
}

/** The prompts found in a file. */
async function find(file: string, text: string, ...args: string[]): Promise<Found> {
  await write(file, text);
  const { status, stdout, stderr } = await cli.pms(['init', '--json', ...args]);
  expect([status, stderr]).toEqual([0, '']);
  return JSON.parse(stdout);
}
const textsOf = ({ prompts }: Found) => prompts.map(({ text }) => text);

test('a chat of OpenAI’s client: texts, expressions as variables, a history, parameters and tools', async () => {
  const found = await find(
    'src/support/answer.ts',
    `
const TONE = 'Be friendly, ' + \`and brief.\\n\` as const;
const TOOLS = [{ type: 'function', function: { name: 'find', parameters: { type: 'object', properties: {} } } }];
export async function answer(question: string, user: { name: string }, history: Message[]) {
  return client.chat.completions.create({
    model: 'gpt-4o-mini', temperature: 0.2, max_tokens: 100, stream: true, user: user.id, tools: TOOLS,
    messages: [
      { role: 'system', content: \`You help \${user.name}. Write {{ name }} as it is. \${TONE}\` },
      ...history,
      { role: 'user', content: [{ type: 'text', text: question }] },
    ],
  });
}`,
  );
  expect(found.prompts).toMatchObject([
    { name: 'support/answer/answer', left_out: ['user'], variables: { 'user.name': 'user_name' } },
  ]);
  expect(textsOf(found)).toEqual([
    `name: support/answer/answer
model: openai/gpt-4o-mini
messages:
  - role: system
    content: |
      You help {{ user_name }}. Write \\{{ name }} as it is. Be friendly, and brief.
  - placeholder: history
    required: false
  - role: user
    content: "{{ question }}"
tools:
  - name: find
    input_schema:
      type: object
      properties: {}
parameters:
  temperature: 0.2
  max_tokens: 100
`,
  ]);
});

test('the AI SDK, Anthropic’s client and LangChain in TypeScript', async () => {
  const found = await find(
    'app.tsx',
    `
export const summarize = async (texts: string[]) =>
  generateText({ model: openai('gpt-4o'), system: 'Summarize.', prompt: \`Texts: \${texts.join(', ')}\`, maxOutputTokens: 300 });
async function exact(text: string) {
  await new Anthropic().messages.create({ model: 'claude-sonnet-4-5', max_tokens: 9, system: 'Be exact.', messages: [{ role: 'user', content: text }] });
}
class Bot { say(text: string) { return this.llm.invoke([new SystemMessage('Say it nicely.'), ['human', text]]); } }
const chain = ChatPromptTemplate.fromMessages([['system', 'Answer in {language}, as {{"a": 1}}.'], new MessagesPlaceholder('history')]);
const one = PromptTemplate.fromTemplate('Name a {thing}.');
`,
    '--model',
    'sandbox/echo',
  );
  const kept = found.prompts.map(({ name, text }) => [name, text.split('\n').slice(1).join('\n').trimEnd()]);
  expect(Object.fromEntries(kept)).toEqual({
    'app/summarize': `model: openai/gpt-4o
messages:
  - role: system
    content: Summarize.
  - role: user
    content: "Texts: {{ texts_join_ }}"
parameters:
  max_tokens: 300`,
    'app/exact': `model: anthropic/claude-sonnet-4-5
messages:
  - role: system
    content: Be exact.
  - role: user
    content: "{{ text }}"
parameters:
  max_tokens: 9`,
    'app/say': `model: sandbox/echo
messages:
  - role: system
    content: Say it nicely.
  - role: user
    content: "{{ text }}"`,
    'app/chain': `model: sandbox/echo
messages:
  - role: system
    content: 'Answer in {{ language }}, as {"a": 1}.'
  - placeholder: history
    required: false`,
    'app/one': `model: sandbox/echo
template: Name a {{ thing }}.`,
  });
});

test('Python: f-strings, joined strings, constants, keyword arguments and LangChain', async () => {
  const found = await find(
    'jobs/ask.py',
    `
MODEL = "claude-sonnet-4-5"
PROMPT: str = """You are a {role}.
Answer in {language}."""

def ask(client, question, doc):
    return client.messages.create(
        model=MODEL, max_tokens=1_024, stop_sequences=["END"], **more,
        system="You are exact.",
        messages=[{"role": "user", "content": f"About {doc.title!r:>10}:\\n{question} {{json}}"
                   r" and \\d, "  "then" + str(1)}, *history],
    )

async def chat(q):
    await OpenAI().responses.create(model="gpt-5", instructions=f"Today is {now()}.", input=q)

chain = ChatPromptTemplate.from_messages([("system", PROMPT), MessagesPlaceholder("history"), ("human", "{question}")])
`,
    '--model',
    'sandbox/echo',
  );
  expect(textsOf(found)).toEqual([
    `name: jobs/ask/ask
model: anthropic/claude-sonnet-4-5
messages:
  - role: system
    content: You are exact.
  - role: user
    content: |-
      About {{ doc_title }}:
      {{ question }} {json} and \\d, then{{ str_1_ }}
  - placeholder: history
    required: false
parameters:
  max_tokens: 1024
  stop:
    - END
`,
    `name: jobs/ask/chat
model: openai/gpt-5
messages:
  - role: system
    content: Today is {{ now_ }}.
  - role: user
    content: "{{ q }}"
`,
    `name: jobs/ask/chain
model: sandbox/echo
messages:
  - role: system
    content: |-
      You are a {{ role }}.
      Answer in {{ language }}.
  - placeholder: history
    required: false
  - role: user
    content: "{{ question }}"
`,
  ]);
});

test('unknown values are not guessed, and calls of other programs are ignored', async () => {
  const found = await find(
    'a.ts',
    `
export const dynamic = (messages) => client.chat.completions.create({ model: 'x', messages });
let text = 'Hello'; text = 'Bye';
export const moving = () => client.chat.completions.create({ model: 'x', messages: [{ role: 'user', content: text }] });
const name = 'Ada';
export const shadowed = (name) => generateText({ model: 'openai/x', prompt: \`Greet \${name}.\` });
export const image = () => client.chat.completions.create({ model: 'x', messages: [{ role: 'user', content: [{ type: 'image_url', image_url: {} }] }] });
export const unnamed = (model) => generateText({ model, prompt: 'Say hello.' });
client.messages.create({ body: 'Your code is 1', to: '+1' });
bus.invoke(['a', 'b']); autocomplete.completion({ prefix: 'Hello' }); stream([{ a: 1 }]);
`,
  );
  expect(textsOf(found)).toEqual(['name: a/shadowed\nmodel: openai/x\ntemplate: Greet {{ name }}.\n']);
  expect(found.skipped.map(({ line, reason }) => [line, reason])).toEqual([
    [2, 'its texts are not literals'],
    [4, 'its texts are not literals'],
    [7, 'a message has a part that is not a text (image_url)'],
    [8, 'it names no model here: set one with --model'],
    [9, expect.any(String)],
  ]);
});

test('a model missing in the call is taken from --model', async () => {
  const found = await find(
    'a.ts',
    `const ask = (model) => anthropic.messages.create({ model, messages: [{ role: 'user', content: 'Say hello.' }] });
    const own = () => anthropic.messages.create({ model: 'claude-haiku-4-5', messages: [{ role: 'user', content: 'Say hi.' }] });`,
    '--model',
    'openai/gpt-5',
  );
  const note = 'the call to anthropic names no model here: openai/gpt-5 is that of --model';
  expect(found.prompts).toMatchObject([{ notes: [note] }, { notes: [] }]);
  const shown = await cli.pms(['init', '--model', 'openai/gpt-5']);
  expect(shown.stdout).toContain(`    # ${note}\n`);
});

test('files that are broken, endlessly nested, or foreign do not stop it', async () => {
  await write('node_modules/x/index.js', `generateText({ model: 'openai/x', prompt: 'Not ours.' })`);
  await write('.hidden/x.py', `completion(model="x", messages=[{"role": "user", "content": "Hidden."}])`);
  await write('deep.js', `generateText({ model: 'openai/x', prompt: ${"'a' + ".repeat(300)}'b' })`);
  await write('nested.py', `x = ${'['.repeat(3000)}${']'.repeat(3000)}`);
  const found = await find('broken.ts', `function f() { ) generateText({ model: 'openai/x', prompt: 'Still found.' `);
  expect(textsOf(found)).toEqual([
    expect.stringContaining('template: Still found.'),
    expect.stringContaining(`template: ${'a'.repeat(300)}b`),
  ]);
});

test('nothing is written without a request, the source never, and an existing file is kept', async () => {
  const source = `export const hello = () => generateText({ model: 'openai/x', prompt: 'Say hello.' });\n`;
  await write('index.ts', source);
  await write('lib/index.ts', source.repeat(2));
  const shown = await cli.pms(['init']);
  expect([shown.status, shown.stdout]).toEqual([
    0,
    expect.stringMatching(/prompts\/hello\.yaml[\s\S]*3 prompts in 2 files/),
  ]);
  expect(await readdir(cli.folder)).not.toContain('prompts');
  expect(await cli.pms(['init', '--write'])).toMatchObject({ status: 0, stdout: expect.stringContaining('3 written') });
  expect(await cli.pms(['prompts', 'validate'])).toMatchObject({ status: 0, stdout: 'passed: 3 files are valid\n' });
  expect(await readFile(path.join(cli.folder, 'index.ts'), 'utf8')).toBe(source);
  await write('prompts/hello.yaml', 'mine');
  const again = await cli.pms(['init', '--write']);
  expect([again.status, again.stderr]).toEqual([1, expect.stringContaining('prompts/hello.yaml')]);
  expect(await readFile(path.join(cli.folder, 'prompts/hello.yaml'), 'utf8')).toBe('mine');
  expect((await cli.pms(['init', 'none'])).status).toBe(2);
});
