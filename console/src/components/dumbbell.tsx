import { formatScore } from '../format.ts';

/** A score before and after, on one line from 0 to 100 %, also described in words. */
export function Dumbbell({ before, after }: { before: number | null; after: number | null }) {
  const at = (score: number) => `${Math.min(Math.max(score, 0), 1) * 100}%`;
  const tone = before === null || after === null || before === after ? '' : after > before ? 'good' : 'bad';
  return (
    <svg
      className={`dumbbell ${tone}`}
      role="img"
      aria-label={before === null ? formatScore(after) : `from ${formatScore(before)} to ${formatScore(after)}`}
      width="100%"
      height="20"
    >
      <line x1="0" x2="100%" y1="10" y2="10" className="dumbbell-axis" />
      {before !== null && after !== null && (
        <line x1={at(before)} x2={at(after)} y1="10" y2="10" className="dumbbell-change" />
      )}
      {/* Before is hollow, after is filled, so that they differ without colors. */}
      {before !== null && <circle cx={at(before)} cy="10" r="5" className="dumbbell-before" />}
      {after !== null && <circle cx={at(after)} cy="10" r="5" className="dumbbell-after" />}
    </svg>
  );
}
