import { useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import type { CreatePrompt } from '../../api-types.ts';
import { FormDialog } from '../../components/dialog.tsx';
import { SelectField, TextArea, TextField } from '../../components/fields.tsx';
import { ModelField } from '../../components/model-field.tsx';
import { useDraftForm } from '../../drafts/use-draft-form.tsx';
import { t } from '../../strings.ts';
import { createPrompt } from '../prompt/save-version.ts';

const KINDS = [
  { value: 'messages', label: 'Messages' },
  { value: 'template', label: 'Text' },
];

const VARIABLES = t('{{ name }} is a variable that each run fills.');

/** A conversation starts with the system message, if any, and the user message. */
const messagesOf = (system: string, user: string) => [
  ...(system.trim() === '' ? [] : [{ role: 'system' as const, content: system }]),
  { role: 'user' as const, content: user },
];

/** The minimum for a prompt; the rest is in its editor. */
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
    kind: 'messages',
    system: '',
    text: '',
    model: 'sandbox/echo',
  });
  const { name, kind, system, text, model } = value;
  const client = useQueryClient();
  const navigate = useNavigate();
  const create = async () => {
    const body: CreatePrompt = {
      name: `${prefix}${name.trim()}`,
      model,
      ...(kind === 'template' ? { template: text } : { messages: messagesOf(system, text) }),
      commit_message: 'First version',
    };
    const prompt = await createPrompt(body);
    await client.invalidateQueries({ queryKey: ['prompts'] });
    sent();
    await navigate({ to: '/prompts/$', params: { _splat: prompt.name } });
    // The dialog disappears with its page.
    return false;
  };
  return (
    <FormDialog
      open={open}
      wide
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
      <div className="grid-2">
        <ModelField label="Model" stored={[]} value={model} onChange={(next) => change({ model: next })} required />
        <SelectField label="Type" value={kind} onChange={(next) => change({ kind: next })} options={KINDS} />
      </div>
      {kind === 'messages' && (
        <TextArea
          label="System message"
          className="mono"
          rows={3}
          value={system}
          onChange={(next) => change({ system: next })}
          hint="The role of the model and how it answers. Can be empty."
          placeholder="You answer questions about our products, in two sentences."
        />
      )}
      <TextArea
        label={kind === 'messages' ? 'User message' : 'Text'}
        className="mono"
        rows={5}
        required
        value={text}
        onChange={(next) => change({ text: next })}
        hint={VARIABLES}
      />
    </FormDialog>
  );
}
