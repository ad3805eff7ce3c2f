/** An import as written in a source file. */
export interface Import {
  target: string;
  isType: boolean;
}

const STATEMENT = /^[ \t]*(?:import|export)\s+(type\s+(?!from\b))?(?:[^'"`;]*?\bfrom\s*)?['"]([^'"]+)['"]/gm;
const DYNAMIC = /\bimport\(\s*['"]([^'"]+)['"]/g;

/**
 * The imports and re-exports of a source file. `import { type A }` counts as a value: even without its types it loads the file.
 * @param source without comment lines
 */
export function importsOf(source: string): Import[] {
  const statements = [...source.matchAll(STATEMENT)].map(([, type, target = '']) => ({ target, isType: !!type }));
  const dynamic = [...source.matchAll(DYNAMIC)].map(([, target = '']) => ({ target, isType: false }));
  return [...statements, ...dynamic];
}
