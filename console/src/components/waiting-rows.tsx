import { Button } from './button.tsx';
import './waiting-rows.css';

/** The number of new rows while the user reads a list, and the button that shows them. */
export function WaitingRows({ list }: { list: { waiting: number; isTooMany: boolean; enter: () => void } }) {
  const { waiting, isTooMany, enter } = list;
  return (
    <div role="status" className="waiting">
      {waiting > 0 && (
        <Button
          look="small primary"
          onClick={() => {
            enter();
            document.querySelector('main .table')?.scrollTo({ top: 0 });
          }}
        >
          {isTooMany ? `More than ${waiting - 1}` : waiting} new
        </Button>
      )}
    </div>
  );
}
