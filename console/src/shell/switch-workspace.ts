import { useMutation } from '@tanstack/react-query';
import { post } from '../api.ts';
import { showError } from '../components/toast.tsx';
import { unsavedDrafts } from '../drafts/drafts.ts';
import { t } from '../strings.ts';

/** Switches the session to another workspace of the same user; asks first if unsaved input would be lost. */
export function useSwitchWorkspace(): (workspace: string) => void {
  const { mutate } = useMutation({
    mutationFn: (workspace: string) => post('/session/workspace', { workspace }),
    // Everything on the page belongs to the previous workspace.
    onSuccess: () => window.location.assign('/console/'),
    onError: showError,
  });
  return (workspace) => {
    if (unsavedDrafts() > 0 && !window.confirm(t('Leave the workspace without saving your changes?'))) return;
    mutate(workspace);
  };
}
