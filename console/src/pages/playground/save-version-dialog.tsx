import { useQueryClient } from '@tanstack/react-query';
import { useRef, useState } from 'react';
import type { CreatePrompt, Prompt, UpdatePrompt } from '../../api-types.ts';
import { FormDialog } from '../../components/dialog.tsx';
import { TextField } from '../../components/fields.tsx';
import { showError, showToast } from '../../components/toast.tsx';
import { promptQuery, replaceData } from '../../queries.ts';
import { NewerVersionDialog } from '../prompt/newer-version-dialog.tsx';
import { createPrompt, saveVersion } from '../prompt/save-version.ts';
import { type Pane, versionBody } from './pane-state.ts';

/** Saves a pane as the next version of its prompt, or as a new prompt. The playground stays open. */
export function SaveVersionDialog({
  pane,
  prompt,
  newest,
  onSaved,
  onClose,
}: {
  pane: Pane;
  prompt: Prompt | undefined;
  /** The newest version that the user has seen. */
  newest: number;
  onSaved: (saved: Prompt) => void;
  onClose: () => void;
}) {
  const [name, setName] = useState(prompt?.name ?? '');
  const [message, setMessage] = useState('');
  const [conflict, setConflict] = useState<{ base: Prompt; newer: Prompt }>();
  const client = useQueryClient();
  const showSaved = async (saved: Prompt) => {
    replaceData(client, promptQuery(saved.name).queryKey, saved);
    await client.invalidateQueries({ queryKey: ['prompts'] });
    showToast(`Saved as ${saved.name}, version ${saved.version}.`);
    onSaved(saved);
  };
  /**
   * @param known the newest version that the user has seen
   * @returns whether it was saved: false if someone else saved first
   */
  const save = async (known: number): Promise<boolean> => {
    const commit = message.trim() === '' ? {} : { commit_message: message.trim() };
    // Both come from forms: the API validates them.
    const body = { ...versionBody(pane, prompt), ...commit } as UpdatePrompt;
    const to = name.trim();
    if (to !== prompt?.name) {
      await showSaved(await createPrompt({ ...body, name: to } as CreatePrompt));
      return true;
    }
    const result = await saveVersion(client, to, body, known);
    if ('newer' in result) {
      setConflict({ base: await client.fetchQuery(promptQuery(to, known)), newer: result.newer });
      return false;
    }
    await showSaved(result.saved);
    return true;
  };
  const isSaving = useRef(false);
  const saveAnyway = async (version: number) => {
    // A second click would conflict with the version created by the first.
    if (isSaving.current) return;
    isSaving.current = true;
    try {
      if (await save(version)) onClose();
    } catch (error) {
      showError(error);
    } finally {
      isSaving.current = false;
    }
  };
  if (conflict)
    return (
      <NewerVersionDialog
        {...conflict}
        onClose={onClose}
        onSaveAnyway={(version) => void saveAnyway(version)}
        canSave
      />
    );
  return (
    <FormDialog
      open
      onClose={onClose}
      title="Save as a version"
      description="Save a version of this prompt, or a new prompt under another name. No label moves."
      submitLabel="Save"
      onSubmit={() => save(newest)}
    >
      <TextField label="Prompt" value={name} onChange={setName} required spellCheck={false} />
      <TextField label="What changes, and why" value={message} onChange={setMessage} maxLength={1000} />
    </FormDialog>
  );
}
