import { useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { pathOf, put } from '../../api.ts';
import { FormDialog } from '../../components/dialog.tsx';
import { SelectField, TextField } from '../../components/fields.tsx';
import { requireNew } from '../../queries.ts';
import { t } from '../../strings.ts';
import type { Evaluator } from '../evaluations/evaluator.ts';
import { EvaluatorsForm } from '../evaluations/evaluators-form.tsx';
import { savedEvaluatorsQuery } from '../evaluations/queries.ts';
import { RUBRICS } from './rubrics.ts';
import type { SavedEvaluator } from './types.ts';

/** What belongs to one use of an evaluator: an endpoint's secret, another evaluation. */
const EXCEPT = ['http', 'saved'];

/** Saves an evaluator under a name, or a new version of it. */
export function SavedEvaluatorDialog({
  saved,
  given,
  onClose,
}: {
  /** The version to change. */
  saved?: SavedEvaluator;
  /** The evaluator to save under a new name. */
  given?: Evaluator;
  onClose: () => void;
}) {
  const [name, setName] = useState(saved?.name ?? given?.name ?? '');
  const [description, setDescription] = useState(saved?.description ?? '');
  const [evaluator, setEvaluator] = useState<Evaluator>(saved?.evaluator ?? given ?? { type: 'llm_judge' });
  const [template, setTemplate] = useState('');
  const client = useQueryClient();
  const navigate = useNavigate();
  const start = (chosen: string) => {
    setTemplate(chosen);
    const found = RUBRICS.find((each) => each.name === chosen);
    if (found === undefined) return;
    const { rubric, include_expected } = found;
    setEvaluator({ ...evaluator, type: 'llm_judge', rubric, include_expected });
    setName(found.name);
  };
  const save = async () => {
    const path = pathOf('saved-evaluators', name.trim());
    if (saved === undefined)
      await requireNew(path, t(`There is a saved evaluator of the name “${name.trim()}” already.`));
    const { name: _, saved_version: __, ...options } = evaluator;
    await put<SavedEvaluator>(path, { evaluator: options, description: description.trim() || null });
    await client.invalidateQueries({ queryKey: savedEvaluatorsQuery.queryKey });
    await client.invalidateQueries({ queryKey: ['saved-evaluators'] });
    if (given === undefined) await navigate({ to: '/evaluators/$name', params: { name: name.trim() } });
  };
  return (
    <FormDialog
      open
      wide
      onClose={onClose}
      title={saved === undefined ? 'Save an evaluator' : `New version of ${saved.name}`}
      description="Evaluations, rules, releases and improvements that use it keep the version they have."
      submitLabel="Save"
      onSubmit={save}
    >
      {saved === undefined && (
        <div className="filters">
          <TextField
            label="Name"
            path="name"
            required
            pattern="[A-Za-z0-9_\-]{1,64}"
            placeholder="tone"
            spellCheck={false}
            translate="no"
            value={name}
            onChange={setName}
          />
          {given === undefined && (
            <SelectField
              label="Start with"
              value={template}
              onChange={start}
              options={[
                { value: '', label: 'nothing' },
                ...RUBRICS.map((each) => ({ value: each.name, label: each.label })),
              ]}
            />
          )}
        </div>
      )}
      <TextField
        label="Measured quality"
        path="description"
        maxLength={500}
        value={description}
        onChange={setDescription}
      />
      <EvaluatorsForm
        value={[evaluator]}
        onChange={([changed]) => changed && setEvaluator(changed)}
        except={EXCEPT}
        isOne
      />
    </FormDialog>
  );
}
