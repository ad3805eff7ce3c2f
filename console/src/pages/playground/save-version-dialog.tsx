import { useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { pathOf, post, put } from '../../api.ts';
import type { Prompt } from '../../api-types.ts';
import { FormDialog } from '../../components/dialog.tsx';
import { TextField } from '../../components/fields.tsx';
import { showToast } from '../../components/toast.tsx';
import { type Pane, versionBody } from './pane-state.ts';

/** Makes what a pane runs the next version of its prompt, or a prompt of its own. */
export function SaveVersionDialog({
  pane,
  prompt,
  onClose,
}: {
  pane: Pane;
  prompt: Prompt | undefined;
  onClose: () => void;
}) {
  const [name, setName] = useState(prompt?.name ?? '');
  const [message, setMessage] = useState('');
  const client = useQueryClient();
  const navigate = useNavigate();
  const save = async () => {
    const commit = message.trim() === '' ? {} : { commit_message: message.trim() };
    const body = { ...versionBody(pane, prompt), ...commit };
    const saved =
      name === prompt?.name
        ? await put<Prompt>(pathOf('prompts', name), body)
        : await post<Prompt>('/prompts', { ...body, name: name.trim() });
    await client.invalidateQueries({ queryKey: ['prompts'] });
    showToast(`Saved as ${saved.name}, version ${saved.version}.`);
    await navigate({ to: '/prompts/$', params: { _splat: saved.name }, search: { tab: 'versions' } });
  };
  return (
    <FormDialog
      open
      onClose={onClose}
      title="Save as a version"
      description="Of this prompt, or under another name of another one. No label moves."
      submitLabel="Save"
      onSubmit={save}
    >
      <TextField label="Prompt" value={name} onChange={setName} required spellCheck={false} />
      <TextField label="What changes, and why" value={message} onChange={setMessage} maxLength={1000} />
    </FormDialog>
  );
}
