/** The natural logarithm of the beta function, for `a`, `b` > 0. */
export function logBeta(a: number, b: number): number {
  return logGamma(a) + logGamma(b) - logGamma(a + b);
}

/** Stirling's series (Abramowitz and Stegun 6.1.41), from 8 on; relative error below 10⁻¹². */
function logGamma(x: number): number {
  let shift = 0;
  let at = x;
  while (at < 8) {
    shift += Math.log(at);
    at += 1;
  }
  const inverse = 1 / (at * at);
  const series = (1 / 12 - inverse * (1 / 360 - inverse * (1 / 1260 - inverse * (1 / 1680 - inverse / 1188)))) / at;
  return (at - 0.5) * Math.log(at) - at + 0.5 * Math.log(2 * Math.PI) + series - shift;
}
