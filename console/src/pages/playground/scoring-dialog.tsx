import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { Button } from '../../components/button.tsx';
import { FormDialog } from '../../components/dialog.tsx';
import type { Evaluator } from '../evaluations/evaluator.ts';
import { EvaluatorsForm } from '../evaluations/evaluators-form.tsx';
import { evaluatorTypesQuery } from '../evaluations/queries.ts';
import { NOT_TRIED } from './cells.ts';

/** Configures how outputs on the page are scored. */
export function ScoringDialog({
  value,
  onChange,
  onClose,
}: {
  value: readonly Evaluator[];
  onChange: (value: Evaluator[]) => void;
  onClose: () => void;
}) {
  const [chosen, setChosen] = useState<readonly Evaluator[]>(value.length > 0 ? value : [{ type: 'exact_match' }]);
  // Wait for the types, so that the dialog does not change its width.
  const isReady = useQuery(evaluatorTypesQuery).isSuccess;
  return (
    <FormDialog
      open
      onClose={onClose}
      title="Score outputs"
      description="Scores the current outputs now, and new outputs as they finish. Each judge call is a separate execution and costs what its model costs."
      wide
      canSubmit={isReady}
      submitLabel="Score"
      onSubmit={async () => onChange([...chosen])}
    >
      <EvaluatorsForm value={chosen} onChange={setChosen} except={NOT_TRIED} />
      {value.length > 0 && (
        <div>
          <Button
            onClick={() => {
              onChange([]);
              onClose();
            }}
          >
            Score nothing
          </Button>
        </div>
      )}
    </FormDialog>
  );
}
