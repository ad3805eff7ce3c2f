import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useBlocker } from '@tanstack/react-router';
import { type FormEvent, useDeferredValue, useMemo, useState } from 'react';
import type { Prompt } from '../../api-types.ts';
import { TextField } from '../../components/fields.tsx';
import { ErrorState, QueryState } from '../../components/states.tsx';
import { showToast } from '../../components/toast.tsx';
import { promptQuery } from '../../queries.ts';
import { useMay } from '../../shell/session.ts';
import { type Content, changesOf, contentOf, placeholdersIn } from './content.ts';
import { ContentForm } from './content-form.tsx';
import { NewerVersionDialog } from './newer-version-dialog.tsx';
import { promptRoute } from './routes.ts';
import { saveVersion } from './save-version.ts';

/** How often someone who edits is told of versions that others have saved. */
const LOOK_EVERY_MS = 15_000;

/** Edits a version: the latest, unless another is asked for. Saving makes the next one. */
export function EditTab({ latest, version }: { latest: Prompt; version: number | undefined }) {
  const isLatest = version === undefined || version === latest.version;
  const other = useQuery({ ...promptQuery(latest.name, version), enabled: !isLatest });
  if (isLatest) return <Editing base={latest} />;
  return (
    <QueryState query={other} what={`version ${version}`}>
      {(prompt) => <Editing base={prompt} />}
    </QueryState>
  );
}

/** The changes of an edit, or why there are none to speak of. */
function tryChanges(before: Content, after: Content) {
  try {
    return { changes: changesOf(before, after), fault: undefined };
  } catch (fault) {
    return { changes: undefined, fault };
  }
}

function Editing({ base: given }: { base: Prompt }) {
  // What was there when editing began: later versions of others don't change the text under one's hands.
  const [base, setBase] = useState(given);
  const [content, setContent] = useState(() => contentOf(given));
  const [message, setMessage] = useState('');
  const [error, setError] = useState<unknown>();
  const [isSaving, setSaving] = useState(false);
  const [newer, setNewer] = useState<Prompt>();
  const client = useQueryClient();
  const navigate = promptRoute.useNavigate();
  const mayWrite = useMay('write');
  const { data: latest = given } = useQuery({ ...promptQuery(given.name), refetchInterval: LOOK_EVERY_MS });
  // The newest version that whoever edits has seen.
  const [seen, setSeen] = useState(Math.max(given.version, latest.version));

  const original = useMemo(() => contentOf(base), [base]);
  // Variables that are not in the text itself: of includes, files, placeholders of messages.
  const included = useMemo(() => {
    const own = placeholdersIn([base.template, ...original.messages.map(({ text }) => text)].join('\n'));
    return base.variables.filter((name) => !own.includes(name));
  }, [base, original]);
  // Not with each key: long texts take a while to compare.
  const typed = useDeferredValue(content);
  const { changes, fault } = useMemo(() => tryChanges(original, typed), [original, typed]);
  const isChanged = changes === undefined || Object.keys(changes).length > 0;
  // An old version can be saved again as it is.
  const canSave = fault === undefined && (isChanged || base.version < seen);
  const { archived } = latest;
  useBlocker({
    shouldBlockFn: ({ current, next }) =>
      isChanged && current.pathname !== next.pathname && !window.confirm('Leave without saving your changes?'),
    enableBeforeUnload: () => isChanged,
  });

  const start = (prompt: Prompt) => {
    setBase(prompt);
    setContent(contentOf(prompt));
    setSeen(prompt.version);
    setMessage('');
    setNewer(undefined);
    setError(undefined);
  };
  /** @param known the newest version that is known to whoever saves */
  const save = async (known: number) => {
    setError(undefined);
    setSaving(true);
    try {
      // Fields left out keep what the newest version says, which need not be the one that is edited.
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
      // What was typed while it was being saved belongs to the next version.
      setContent((now) => (now === content ? contentOf(saved) : now));
      setMessage((now) => (now === message ? '' : now));
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
  return (
    <form className="stack" onSubmit={submit}>
      {latest.version > seen && (
        <div className="notice warn" role="status">
          <p>Version {latest.version} was saved since you began.</p>
          <button type="button" className="button small" onClick={() => setNewer(latest)}>
            See what it changes
          </button>
        </div>
      )}
      {base.version < latest.version && latest.version <= seen && (
        <p className="notice">
          This is version {base.version}. What you save becomes version {latest.version + 1}.
        </p>
      )}
      {archived && <p className="notice warn">This prompt is in the archive: restore it to change it.</p>}
      <ContentForm
        content={content}
        onChange={(part) => setContent((before) => ({ ...before, ...part }))}
        variables={included}
        disabled={!mayWrite || archived}
      />
      {(fault ?? error) !== undefined && <ErrorState error={fault ?? error} />}
      <div className="save-bar">
        <TextField
          label="What changes, and why"
          value={message}
          onChange={setMessage}
          maxLength={1000}
          disabled={!mayWrite || archived}
        />
        <button type="submit" className="button primary" disabled={!mayWrite || archived || !canSave || isSaving}>
          Save as version {latest.version + 1}
        </button>
        <button type="button" className="button" disabled={!isChanged} onClick={() => start(base)}>
          Discard changes
        </button>
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
