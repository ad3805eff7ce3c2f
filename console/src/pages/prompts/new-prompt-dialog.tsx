import { useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import type { CreatePrompt } from '../../api-types.ts';
import { FormDialog } from '../../components/dialog.tsx';
import { SelectField, TextArea, TextField } from '../../components/fields.tsx';
import { ModelField } from '../../components/model-field.tsx';
import { useDraftForm } from '../../drafts/use-draft-form.tsx';
import { createPrompt } from '../prompt/save-version.ts';

const KINDS = [
  { value: 'template', label: 'Text' },
  { value: 'messages', label: 'Messages' },
];

/** The least that a prompt needs; all else is in its editor. */
export function NewPromptDialog({
  open,
  onClose,
  group,
}: {
  open: boolean;
  onClose: () => void;
  group: string | undefined;
}) {
  const prefix = group === undefined ? '' : `${group}/`;
  const { value, change, sent, notice } = useDraftForm('new-prompt', prefix, {
    name: '',
    kind: 'template',
    text: '',
    model: 'sandbox/echo',
  });
  const { name, kind, text, model } = value;
  const client = useQueryClient();
  const navigate = useNavigate();
  const create = async () => {
    const body: CreatePrompt = {
      name: `${prefix}${name.trim()}`,
      model,
      ...(kind === 'template' ? { template: text } : { messages: [{ role: 'user', content: text }] }),
      commit_message: 'First version',
    };
    const prompt = await createPrompt(body);
    await client.invalidateQueries({ queryKey: ['prompts'] });
    sent();
    await navigate({ to: '/prompts/$', params: { _splat: prompt.name } });
    // The dialog goes with the page that it was on.
    return false;
  };
  return (
    <FormDialog
      open={open}
      onClose={onClose}
      title="New prompt"
      description={prefix === '' ? 'A slash in the name makes folders: support/greeting.' : `In the folder ${prefix}`}
      submitLabel="Create"
      onSubmit={create}
    >
      {notice}
      <TextField
        label="Name"
        value={name}
        onChange={(next) => change({ name: next })}
        required
        placeholder="greeting"
        spellCheck={false}
      />
      <ModelField label="Model" value={model} onChange={(next) => change({ model: next })} required />
      <SelectField label="Type" value={kind} onChange={(next) => change({ kind: next })} options={KINDS} />
      <TextArea
        label="Text"
        className="mono"
        rows={5}
        required
        value={text}
        onChange={(next) => change({ text: next })}
        hint="{{ name }} is a variable that each run fills."
      />
    </FormDialog>
  );
}
