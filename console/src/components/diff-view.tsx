import { lazy, Suspense } from 'react';
import { Loading } from './states.tsx';

/** One side of a comparison, with its title. */
export interface DiffSide {
  title: string;
  text: string;
}

const MergeView = lazy(async () => ({ default: (await import('./merge-view.tsx')).MergeView }));

/** Two texts side by side with differences marked. Equal parts are folded. */
export function DiffView(sides: { before: DiffSide; after: DiffSide }) {
  return (
    <Suspense fallback={<Loading what="the comparison" />}>
      <MergeView {...sides} />
    </Suspense>
  );
}
