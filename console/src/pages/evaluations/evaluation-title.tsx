import { useQueryClient } from '@tanstack/react-query';
import { Pencil } from 'lucide-react';
import { type FormEvent, useState } from 'react';
import { patch, pathOf } from '../../api.ts';
import type { Evaluation } from '../../api-types.ts';
import { Button } from '../../components/button.tsx';
import { showError } from '../../components/toast.tsx';
import { replaceData } from '../../queries.ts';
import { useMay } from '../../shell/session.ts';
import { useSubmit } from '../../use-submit.ts';
import { evaluationKey } from './queries.ts';

/** The heading of an evaluation: its name, which can be changed in place. */
export function EvaluationTitle({ evaluation: { id, name }, title }: { evaluation: Evaluation; title: string }) {
  const client = useQueryClient();
  const mayExecute = useMay('execute');
  /** Undefined while it is only read. */
  const [typed, setTyped] = useState<string>();
  const { busy, submit } = useSubmit();
  const save = (event: FormEvent) => {
    event.preventDefault();
    const given = typed?.trim() ?? '';
    void submit(async () => {
      try {
        const body = { name: given === '' ? null : given };
        replaceData(client, evaluationKey(id), await patch<Evaluation>(pathOf('evaluations', id), body));
        void client.invalidateQueries({ queryKey: ['evaluations', 'list'] });
        setTyped(undefined);
      } catch (error) {
        showError(error);
      }
    });
  };
  if (typed === undefined)
    return (
      <div className="row evaluation-title">
        <h1>{title}</h1>
        {mayExecute && (
          <Button
            look="small plain"
            onClick={() => setTyped(name ?? '')}
            aria-label="Name this run"
            title="Name this run"
          >
            <Pencil className="icon" aria-hidden />
          </Button>
        )}
      </div>
    );
  return (
    <form
      className="row evaluation-title"
      onSubmit={save}
      onKeyDown={(event) => {
        if (event.key === 'Escape') setTyped(undefined);
      }}
    >
      <h1 className="visually-hidden">{title}</h1>
      <input
        aria-label="Name of this run"
        // biome-ignore lint/a11y/noAutofocus: it opens on demand
        autoFocus
        maxLength={200}
        value={typed}
        placeholder={title}
        onChange={(event) => setTyped(event.target.value)}
      />
      <button type="submit" className="button small primary" disabled={busy}>
        Save
      </button>
      <Button look="small" onClick={() => setTyped(undefined)}>
        Cancel
      </Button>
    </form>
  );
}
