/** Ends at once. */
export async function answer(): Promise<number> {
  return 42;
}

/** Never ends, nor lets anything else go on. */
export async function spin(): Promise<void> {
  for (;;);
}
