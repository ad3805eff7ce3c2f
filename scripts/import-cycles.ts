/**
 * Finds import cycles, each as its files in import order, with the first file repeated at the end. Returns at least one for
 * every group of files that import each other.
 * @param imports the files that each file imports
 */
export function findImportCycles(imports: ReadonlyMap<string, readonly string[]>): string[][] {
  const cycles: string[][] = [];
  const done = new Set<string>();
  const path: string[] = [];

  function visit(file: string): void {
    const start = path.indexOf(file);
    if (start !== -1) cycles.push([...path.slice(start), file]);
    if (start !== -1 || done.has(file)) return;
    path.push(file);
    for (const imported of imports.get(file) ?? []) visit(imported);
    path.pop();
    done.add(file);
  }

  for (const file of imports.keys()) visit(file);
  return cycles;
}
