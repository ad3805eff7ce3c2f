import { lazy, Suspense } from 'react';
import { Loading } from './states.tsx';

/** A text of a comparison, and what it is called. */
export interface DiffSide {
  title: string;
  text: string;
}

const MergeView = lazy(async () => ({ default: (await import('./merge-view.tsx')).MergeView }));

/** Two texts side by side, with what differs marked. What is the same is folded. */
export function DiffView(sides: { before: DiffSide; after: DiffSide }) {
  return (
    <Suspense fallback={<Loading what="the comparison" />}>
      <MergeView {...sides} />
    </Suspense>
  );
}
