import { spawn } from 'node:child_process';
import path from 'node:path';
import process from 'node:process';
import { text } from 'node:stream/consumers';
import type { Code } from './run-assert.ts';

/** Reads a call as JSON, makes it, and writes the result as JSON. Output of the code goes elsewhere. */
const RUNNER = `
import asyncio, dataclasses, importlib.util, inspect, json, os, sys
call = json.load(sys.stdin)
out, sys.stdout = sys.stdout, sys.stderr
if call.get("file"):
    sys.path.insert(0, os.path.dirname(call["file"]))
    spec = importlib.util.spec_from_file_location("scorer_assert", call["file"])
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    run = getattr(module, call["function"])
else:
    names = {"json": json}
    exec(call["source"], names)
    run = names["main"]
result = run(*call["args"])
if inspect.isawaitable(result):
    async def wait():
        return await result
    result = asyncio.run(wait())
if dataclasses.is_dataclass(result):
    result = dataclasses.asdict(result)
json.dump(result, out)
`;

const MAX_ERROR_LENGTH = 400;

/** A function with the code as its body, which returns the value of a single line. */
function functionOf(source: string): string {
  const lines = source.split('\n');
  if (lines.length === 1) return `def main(output, context):\n    return ${source}\n`;
  const indent = /^(?!\s*$)[ \t]+/m.exec(source)?.[0] ?? '    ';
  return `def main(output, context):\n${lines.map((line) => `${indent}${line}`).join('\n')}\n`;
}

/**
 * Runs Python code in a separate process.
 * @param usual the default function of a file
 * @throws Error with the end of Python's output
 */
export async function runPython(code: Code, folder: string, usual: string, args: unknown[]): Promise<unknown> {
  const call =
    'file' in code
      ? { file: path.join(folder, code.file), function: code.function ?? usual, args }
      : { source: functionOf(code.source), args };
  const child = spawn(process.env['PYTHON'] ?? 'python3', ['-c', RUNNER], { stdio: ['pipe', 'pipe', 'pipe'] });
  const ended = new Promise<number | null>((resolve, reject) => {
    child.on('error', reject);
    child.on('close', resolve);
  });
  child.stdin.on('error', () => {});
  child.stdin.end(JSON.stringify(call));
  const [printed, errors, status] = await Promise.all([text(child.stdout), text(child.stderr), ended]);
  if (status !== 0) throw new Error(`Python: ${errors.trim().slice(-MAX_ERROR_LENGTH)}`);
  return JSON.parse(printed);
}
