import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, expect } from '@jest/globals';
import { PROJECT } from './processes.ts';

/** A fenced block of a page. */
export interface Block {
  page: string;
  /** The line of its first fence. */
  line: number;
  /** The text of the heading above it. */
  section: string;
  /** Empty if the fence names none. */
  language: string;
  code: string;
}

/** Every page that a reader of the repository finds. */
export const PAGES: readonly string[] = ['*.md', '{docs,cli,clients,console,deploy,skills,test,tools,bench}/**/*.md']
  .flatMap((pattern) =>
    globSync(pattern, { cwd: PROJECT, exclude: ['**/node_modules/**', '**/fixtures/**', '**/.*/**'] }),
  )
  .sort();

const FENCE = /^( *)```(\w*)$/;

export function blocksOf(page: string): Block[] {
  const blocks: Block[] = [];
  let section = '';
  let open: (Block & { indent: string }) | undefined;
  for (const [at, line] of readFileSync(path.join(PROJECT, page), 'utf8').split('\n').entries()) {
    const fence = FENCE.exec(line);
    if (open !== undefined && fence !== null) {
      const { indent: _, ...block } = open;
      blocks.push(block);
      open = undefined;
    } else if (open !== undefined)
      open.code += `${line.startsWith(open.indent) ? line.slice(open.indent.length) : line}\n`;
    else if (fence !== null)
      open = { page, line: at + 1, section, language: fence[2] ?? '', code: '', indent: fence[1] ?? '' };
    else if (/^#+ /.test(line)) section = line.replace(/^#+ /, '');
  }
  if (open !== undefined) throw new Error(`${page}:${open.line}: the block has no end`);
  return blocks;
}

/** Selects blocks of a page by conditions. */
export interface Selection {
  page: string;
  language?: string;
  section?: string;
  /** A text that is in the block. */
  has?: string;
}

export const fits = (block: Block, { page, language, section, has }: Selection): boolean =>
  block.page === page &&
  (language ?? block.language) === block.language &&
  (section ?? block.section) === block.section &&
  block.code.includes(has ?? '');

/**
 * Blocks that a test file runs itself, as declared in `test/docs/claims.ts`. The file fails unless it uses every one of them.
 * @param selections of the file in the claims
 */
export function ownBlocks(selections: readonly Selection[]) {
  const own = selections.flatMap((selection) => blocksOf(selection.page).filter((block) => fits(block, selection)));
  const left = new Set(own);
  afterAll(() => {
    expect([...left].map(({ page, line }) => `${page}:${line}`)).toEqual([]);
  });
  return {
    /** The blocks that fit, which are run by the caller. */
    take(selection: Selection): Block[] {
      const taken = own.filter((block) => fits(block, selection));
      for (const block of taken) left.delete(block);
      return taken;
    },
  };
}

/** The code that `docs/README.md` has every reader run before a sample, by language. */
export function preamble(language: 'sh' | 'ts' | 'python'): string {
  const [block] = blocksOf('docs/README.md').filter((each) =>
    fits(each, { page: each.page, language, section: 'Run the samples' }),
  );
  if (block === undefined) throw new Error(`docs/README.md has no preamble in ${language}.`);
  return block.code;
}
