const points = (share: number) => Math.round(share * 1_000) / 10;

/** A difference with its 95 % interval, on a line with zero in the middle. */
export function Interval({
  low,
  high,
  difference,
  widest: given,
}: {
  low: number;
  high: number;
  difference: number;
  /** The value at the ends of the line, so that several intervals share a scale. Default: what fits. */
  widest?: number;
}) {
  const widest = given ?? Math.max(Math.abs(low), Math.abs(high), 0.01) * 1.15;
  const at = (share: number) => `${50 + (share / widest) * 50}%`;
  const tone = low > 0 ? 'good' : high < 0 ? 'bad' : '';
  return (
    <svg
      className={`dumbbell ${tone}`}
      role="img"
      aria-label={`a difference of ${points(difference)} points, between ${points(low)} and ${points(high)}`}
      width="100%"
      height="28"
    >
      <line x1="0" x2="100%" y1="14" y2="14" className="dumbbell-axis" />
      <line x1="50%" x2="50%" y1="2" y2="26" className="dumbbell-zero" />
      <line x1={at(low)} x2={at(high)} y1="14" y2="14" className="dumbbell-change" />
      {[low, high].map((end) => (
        <line key={end} x1={at(end)} x2={at(end)} y1="8" y2="20" className="dumbbell-end" />
      ))}
      <circle cx={at(difference)} cy="14" r="5" className="dumbbell-after" />
    </svg>
  );
}
