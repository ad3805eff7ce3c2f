/** The cosine of the angle between two vectors, -1..1, as a measure of similarity. 0 if one of them is zero or their lengths differ. */
export function cosine(a: readonly number[], b: readonly number[]): number {
  let [product, squaresOfA, squaresOfB] = [0, 0, 0];
  for (const [index, x] of a.entries()) {
    const y = b[index] ?? 0;
    product += x * y;
    squaresOfA += x * x;
    squaresOfB += y * y;
  }
  const lengths = Math.sqrt(squaresOfA) * Math.sqrt(squaresOfB);
  if (a.length !== b.length || !(lengths > 0)) return 0;
  return Math.min(1, Math.max(-1, product / lengths));
}
