import { useQuery, useQueryClient } from '@tanstack/react-query';
import { type FormEvent, type KeyboardEvent, useDeferredValue, useEffect, useMemo, useRef, useState } from 'react';
import type { Prompt } from '../../api-types.ts';
import { Button } from '../../components/button.tsx';
import { TextField } from '../../components/fields.tsx';
import { ErrorState, QueryState } from '../../components/states.tsx';
import { showToast } from '../../components/toast.tsx';
import { OtherDrafts, RestoredNotice } from '../../drafts/draft-notices.tsx';
import { useDrafts, useOpenDraft } from '../../drafts/use-drafts.ts';
import { promptQuery } from '../../queries.ts';
import { useMay } from '../../shell/session.ts';
import { t } from '../../strings.ts';
import { type Content, changesOf, contentOf, placeholdersIn, withNewKeys } from './content.ts';
import { ContentForm } from './content-form.tsx';
import { NewerVersionDialog } from './newer-version-dialog.tsx';
import { promptRoute } from './routes.ts';
import { saveVersion } from './save-version.ts';

/** How often the page checks for versions saved by others. */
const POLL_INTERVAL_MS = 15_000;

/** The stored state of an edit until it is saved. */
interface PromptDraft {
  /** The version being edited. */
  base: number;
  content: Content;
  message: string;
}

/** Edits a version, by default the latest. Saving creates the next one. */
export function EditTab({ latest, version }: { latest: Prompt; version: number | undefined }) {
  const { name } = latest;
  const draft = useOpenDraft<PromptDraft>('prompt', name, ({ base }) => version === undefined || base === version);
  const others = useDrafts<PromptDraft>('prompt', name).filter(({ id }) => id !== draft.open.id);
  return (
    <>
      <OtherDrafts drafts={others} nameOf={({ value }) => t(`version ${value.base}`)} onTake={draft.take} />
      <Begin key={draft.open.id} latest={latest} version={version} {...draft} />
    </>
  );
}

type DraftOfPrompt = ReturnType<typeof useOpenDraft<PromptDraft>>;

/** Loads the version to edit: the draft's, the requested one, or the latest. */
function Begin({ latest, version, ...draft }: { latest: Prompt; version: number | undefined } & DraftOfPrompt) {
  const [number] = useState(draft.open.restored?.value.base ?? version ?? latest.version);
  // After saving it is no longer the latest.
  const [first] = useState(number === latest.version ? latest : undefined);
  const other = useQuery({ ...promptQuery(latest.name, number), enabled: first === undefined });
  return (
    <QueryState query={{ ...other, data: first ?? other.data }} what={`version ${number}`}>
      {(prompt) => <Editing base={prompt} {...draft} />}
    </QueryState>
  );
}

/** The changes of an edit, or the error in them. */
function tryChanges(before: Content, after: Content) {
  try {
    return { changes: changesOf(before, after), fault: undefined };
  } catch (fault) {
    return { changes: undefined, fault };
  }
}

function Editing({ base: given, open: { restored }, keep, drop, startOver }: { base: Prompt } & DraftOfPrompt) {
  // The version when editing started: later versions of others do not change the text being edited.
  const [base, setBase] = useState(given);
  const [content, setContent] = useState(() =>
    restored === undefined ? contentOf(given) : withNewKeys(restored.value.content),
  );
  const [message, setMessage] = useState(restored?.value.message ?? '');
  /** The current value, also for closures of earlier renders. */
  const current = useRef({ base: base.version, content, message });
  const edit = (part: { content?: Partial<Content>; message?: string }) => {
    const before = current.current;
    const after = { ...before, ...part, content: { ...before.content, ...part.content } };
    current.current = after;
    setContent(after.content);
    setMessage(after.message);
    keep(after);
  };
  const [error, setError] = useState<unknown>();
  const [isSaving, setSaving] = useState(false);
  const [newer, setNewer] = useState<Prompt>();
  const client = useQueryClient();
  const navigate = promptRoute.useNavigate();
  const mayWrite = useMay('write');
  const { data: latest = given } = useQuery({ ...promptQuery(given.name), refetchInterval: POLL_INTERVAL_MS });
  // The newest version that the user has seen.
  const [seen, setSeen] = useState(restored === undefined ? Math.max(given.version, latest.version) : given.version);

  const original = useMemo(() => contentOf(base), [base]);
  // Variables outside of the text itself: from includes, files, message placeholders.
  const included = useMemo(() => {
    const own = placeholdersIn([base.template, ...original.messages.map(({ text }) => text)].join('\n'));
    return base.variables.filter((name) => !own.includes(name));
  }, [base, original]);
  // Deferred: long texts take a while to compare.
  const typed = useDeferredValue(content);
  const { changes, fault } = useMemo(() => tryChanges(original, typed), [original, typed]);
  const isChanged = changes === undefined || Object.keys(changes).length > 0;
  // An old version can be saved again unchanged.
  const canSave = fault === undefined && (isChanged || base.version < seen);
  const { archived } = latest;
  useEffect(() => {
    // Reverted to the original: no draft is needed.
    if (!isChanged && typed === content && message === '') drop();
  }, [isChanged, typed, content, message, drop]);

  const start = (prompt: Prompt) => {
    const fresh = contentOf(prompt);
    current.current = { base: prompt.version, content: fresh, message: '' };
    drop();
    setBase(prompt);
    setContent(fresh);
    setSeen(prompt.version);
    setMessage('');
    setNewer(undefined);
    setError(undefined);
  };
  /** @param known the newest version that the user has seen */
  const save = async (known: number) => {
    setError(undefined);
    setSaving(true);
    try {
      // Omitted fields keep the content of the newest version, which may not be the one being edited.
      const newest = known === base.version ? base : await client.fetchQuery(promptQuery(base.name, known));
      const change = {
        ...changesOf(contentOf(newest), content),
        ...(message.trim() !== '' && { commit_message: message.trim() }),
      };
      const result = await saveVersion(client, base.name, change, known);
      if ('newer' in result) {
        setNewer(result.newer);
        return;
      }
      const { saved } = result;
      setBase(saved);
      setSeen(saved.version);
      setNewer(undefined);
      // Input during saving belongs to the next version.
      const now = current.current;
      const left = {
        base: saved.version,
        content: now.content === content ? contentOf(saved) : now.content,
        message: now.message === message ? '' : now.message,
      };
      current.current = left;
      setContent(left.content);
      setMessage(left.message);
      if (now.content === content && left.message === '') drop();
      else keep(left);
      await navigate({ search: {} });
      await client.invalidateQueries({ queryKey: ['prompts'] });
      showToast(`Saved as version ${saved.version}.`);
    } catch (thrown) {
      setError(thrown);
    } finally {
      setSaving(false);
    }
  };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    void save(seen);
  };
  const canSubmit = mayWrite && !archived && canSave && !isSaving;
  /** Ctrl+S, or ⌘S, wherever the focus is. */
  const saveByKey = (event: KeyboardEvent<HTMLFormElement>) => {
    if (event.key !== 's' || !(event.ctrlKey || event.metaKey)) return;
    event.preventDefault();
    if (canSubmit) event.currentTarget.requestSubmit();
  };
  return (
    <form className="stack" onSubmit={submit} onKeyDown={saveByKey}>
      {restored && <RestoredNotice draft={restored} onDiscard={startOver} />}
      {latest.version > seen && (
        <div className="notice warn" role="status">
          <p>Version {latest.version} was saved since you started.</p>
          <Button look="small" onClick={() => setNewer(latest)}>
            See what it changes
          </Button>
        </div>
      )}
      {base.version < latest.version && latest.version <= seen && (
        <p className="notice">
          This is version {base.version}. Your changes become version {latest.version + 1}.
        </p>
      )}
      {archived && <p className="notice warn">This prompt is archived: restore it to change it.</p>}
      <ContentForm
        content={content}
        onChange={(part) => edit({ content: part })}
        variables={included}
        storedModels={[original.model, ...original.fallback_models]}
        disabled={!mayWrite || archived}
      />
      <div className="save-bar">
        {(fault ?? error) !== undefined && <ErrorState error={fault ?? error} />}
        <TextField
          label="What changes, and why"
          value={message}
          onChange={(typedMessage) => edit({ message: typedMessage })}
          maxLength={1000}
          disabled={!mayWrite || archived}
        />
        <button type="submit" className="button primary" disabled={!canSubmit} aria-keyshortcuts="Control+S Meta+S">
          Save as version {latest.version + 1}
        </button>
        <Button disabled={!isChanged} onClick={() => start(base)}>
          Discard changes
        </Button>
      </div>
      {!mayWrite && <p className="muted">The key of this session lacks the scope “write”: you can read only.</p>}
      <NewerVersionDialog
        base={base}
        newer={newer}
        onClose={() => setNewer(undefined)}
        onTake={start}
        onSaveAnyway={(version) => {
          setSeen(version);
          setNewer(undefined);
          void save(version);
        }}
        canSave={mayWrite && canSave}
      />
    </form>
  );
}
