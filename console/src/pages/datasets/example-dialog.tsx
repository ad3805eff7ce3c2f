import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import type { Dataset } from '../../api-types.ts';
import { Button } from '../../components/button.tsx';
import { FormDialog, Modal } from '../../components/dialog.tsx';
import { TextArea, TextField } from '../../components/fields.tsx';
import { Images, imagesIn } from '../../components/images.tsx';
import { JsonView } from '../../components/text-view.tsx';
import { showError, showToast, showUndo } from '../../components/toast.tsx';
import { useDraftForm } from '../../drafts/use-draft-form.tsx';
import { formatJson } from '../../format.ts';
import { t } from '../../strings.ts';
import { addExample, changeExamples, type Example, withoutPosition } from './examples.ts';
import { titleOf } from './examples-tab.tsx';

/** Shows or edits one example. @param example undefined for a new one */
export function ExampleDialog({
  dataset,
  example,
  mayChange,
  onClose,
}: {
  dataset: Dataset;
  example: Example | undefined;
  mayChange: boolean;
  onClose: () => void;
}) {
  if (!mayChange && example)
    return (
      <Modal open wide onClose={onClose} title={titleOf(example)}>
        <JsonView value={withoutPosition(example)} label="example" />
        <div className="dialog-actions">
          <Button onClick={onClose}>Close</Button>
        </div>
      </Modal>
    );
  return <EditDialog dataset={dataset} example={example} onClose={onClose} />;
}

/** Parses JSON input. @throws Error that names the field */
function parse(field: string, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new Error(`${field} must be valid JSON.`);
  }
}

const isText = (value: unknown) => value === undefined || typeof value === 'string';

function EditDialog({
  dataset,
  example,
  onClose,
}: {
  dataset: Dataset;
  example: Example | undefined;
  onClose: () => void;
}) {
  const client = useQueryClient();
  const {
    value: form,
    change,
    sent,
    notice,
  } = useDraftForm('example', `${dataset.name} ${example?.id ?? ''}`, {
    id: example?.id ?? '',
    variables: formatJson(example?.variables ?? { name: '' }),
    expected: isText(example?.expected) ? String(example?.expected ?? '') : formatJson(example?.expected),
    asJson: !isText(example?.expected),
    metadata: example?.metadata === undefined ? '' : formatJson(example.metadata),
  });
  const { id, variables, expected, asJson, metadata } = form;
  const refresh = () => client.invalidateQueries({ queryKey: ['datasets'] });
  const store = async () => {
    const typed = {
      ...(id.trim() !== '' && { id: id.trim() }),
      variables: parse(t('Variables'), variables),
      ...(expected !== '' && { expected: asJson ? parse(t('Expected'), expected) : expected }),
      ...(metadata.trim() !== '' && { metadata: parse(t('Metadata'), metadata) }),
    };
    if (example !== undefined) {
      const line = JSON.stringify(typed);
      const { version } = await changeExamples(dataset, (lines) =>
        lines.map((each, seq) => (seq === example.seq ? line : each)),
      );
      return t(`The example was changed in version ${version}.`);
    }
    const { version, added = 0, replaced = 0 } = await addExample(dataset.name, typed);
    if (added + replaced === 0) return t(`Version ${version} has this example already.`);
    return replaced === 0
      ? t(`The example was added in version ${version}.`)
      : t(`The example of this id was replaced in version ${version}.`);
  };
  const save = async () => {
    const done = await store();
    sent();
    await refresh();
    showToast(done);
  };
  const [isDeleting, setDeleting] = useState(false);
  const deleteExample = async () => {
    setDeleting(true);
    try {
      let before: string[] = [];
      const saved = await changeExamples(dataset, (lines) => {
        before = lines;
        return lines.filter((_, seq) => seq !== example?.seq);
      });
      sent();
      onClose();
      await refresh();
      showUndo(`The example was deleted in version ${saved.version}.`, async () => {
        await changeExamples(saved, () => before);
        await refresh();
      });
    } catch (error) {
      showError(error);
    } finally {
      setDeleting(false);
    }
  };
  return (
    <FormDialog
      open
      wide
      onClose={onClose}
      title={example === undefined ? 'Add an example' : titleOf(example)}
      description={`Creates version ${dataset.version + 1} of ${dataset.name}. Version ${dataset.version} is unchanged.`}
      submitLabel="Save"
      canSubmit={!isDeleting}
      onSubmit={save}
    >
      {notice}
      <TextField
        label="Id"
        value={id}
        onChange={(next) => change({ id: next })}
        spellCheck={false}
        hint="Identifies the example across versions."
      />
      <TextArea
        label="Variables"
        className="mono"
        rows={6}
        required
        spellCheck={false}
        value={variables}
        onChange={(next) => change({ variables: next })}
        hint="A JSON object."
      />
      {example && <Images images={imagesIn([example.variables, example.expected])} label="Images of the example" />}
      <TextArea
        label="Expected"
        className={asJson ? 'mono' : undefined}
        rows={5}
        value={expected}
        onChange={(next) => change({ expected: next })}
        hint="The correct output. Leave empty if there is no right answer."
      />
      <label className="check">
        <input type="checkbox" checked={asJson} onChange={(event) => change({ asJson: event.target.checked })} />
        The expected output is JSON
      </label>
      <TextArea
        label="Metadata"
        className="mono"
        rows={2}
        spellCheck={false}
        value={metadata}
        onChange={(next) => change({ metadata: next })}
        hint="A JSON object, or nothing."
      />
      {example && (
        <p>
          <Button look="small danger" disabled={isDeleting} onClick={() => void deleteExample()}>
            Delete this example
          </Button>
        </p>
      )}
    </FormDialog>
  );
}
