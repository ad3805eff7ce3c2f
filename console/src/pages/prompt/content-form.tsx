import { useDeferredValue, useMemo, useState } from 'react';
import { foreignTags } from '../../../../src/domain/prompts/template-warnings.ts';
import { Editor } from '../../components/editor.tsx';
import { SelectField, TextArea, TextField } from '../../components/fields.tsx';
import { ModelField } from '../../components/model-field.tsx';
import { ParametersForm } from '../../components/parameters-form.tsx';
import { type Content, newMessage, placeholdersIn } from './content.ts';
import { InputsForm } from './inputs-form.tsx';
import { MessagesForm } from './messages-form.tsx';

const MAX_FALLBACK_MODELS = 5;
const MAX_SHOWN_TAGS = 5;
const FORMS = [
  { value: 'template', label: 'Text' },
  { value: 'messages', label: 'Messages' },
];

/** All editable parts of a version. */
export function ContentForm({
  content,
  onChange,
  variables,
  storedModels,
  disabled,
}: {
  content: Content;
  onChange: (part: Partial<Content>) => void;
  /** The variables of the version being edited, including those of includes. */
  variables: readonly string[];
  /** The models of the version being edited. */
  storedModels: readonly string[];
  disabled: boolean;
}) {
  const { form, template, messages } = content;
  const typed = useDeferredValue(form === 'template' ? template : messages.map(({ text }) => text).join('\n'));
  const names = useMemo(() => [...new Set([...placeholdersIn(typed), ...variables])], [typed, variables]);
  const unknownTags = useMemo(() => foreignTags(typed).slice(0, MAX_SHOWN_TAGS), [typed]);
  const changeForm = (chosen: string) => {
    if (chosen === 'messages' && messages.length === 0)
      onChange({ form: 'messages', messages: [newMessage('user', template)] });
    else if (chosen === 'template' && template === '')
      onChange({ form: 'template', template: messages.find(({ isJson }) => !isJson)?.text ?? '' });
    else onChange({ form: chosen === 'messages' ? 'messages' : 'template' });
  };
  return (
    <fieldset disabled={disabled} className="columns">
      <div className="stack">
        <SelectField label="Type" value={form} onChange={changeForm} options={FORMS} />
        {form === 'template' ? (
          <div className="field">
            <span className="field-label">Text</span>
            <Editor
              label="Text"
              value={template}
              onChange={(text) => onChange({ template: text })}
              readOnly={disabled}
              minLines={10}
            />
          </div>
        ) : (
          <MessagesForm
            messages={messages}
            onChange={(changed) => onChange({ messages: changed })}
            disabled={disabled}
          />
        )}
        <p className="field-hint">
          <code>{'{{ name }}'}</code> is filled by each run, <code>{'{{> other/prompt@production }}'}</code> inserts
          another prompt’s text, a backslash before either makes it plain text.
        </p>
        {unknownTags.length > 0 && (
          <p className="field-hint" role="status">
            The service does not know these tags and sends them as text: <code>{unknownTags.join(' ')}</code>
          </p>
        )}
        <InputsForm names={names} inputs={content.inputs} onChange={(inputs) => onChange({ inputs })} />
        <details className="card" open={content.tools !== ''}>
          <summary>Tools</summary>
          <TextArea
            label="Tools, as a JSON list"
            className="mono"
            rows={8}
            spellCheck={false}
            value={content.tools}
            onChange={(tools) => onChange({ tools })}
            hint={'[{"name": "get_weather", "description": "…", "input_schema": {"type": "object", "properties": {}}}]'}
          />
          <TextField
            label="Tool choice"
            value={content.tool_choice}
            onChange={(tool_choice) => onChange({ tool_choice })}
            spellCheck={false}
            hint="auto, none, required, or a tool: {“name”: “get_weather”}. Leave empty to let the model decide."
          />
        </details>
      </div>
      <div className="stack">
        <section className="card" aria-label="Model">
          <ModelField
            label="Model"
            stored={storedModels}
            value={content.model}
            onChange={(model) => onChange({ model })}
            required
          />
          <FallbackModels
            models={content.fallback_models}
            stored={storedModels}
            onChange={(fallback_models) => onChange({ fallback_models })}
          />
        </section>
        <section className="card" aria-label="Parameters">
          <h2>Parameters</h2>
          <ParametersForm
            model={content.model}
            value={content.parameters}
            onChange={(parameters) => onChange({ parameters })}
          />
        </section>
        <section className="card" aria-label="About this prompt">
          <TextArea
            label="Description"
            rows={2}
            value={content.description}
            onChange={(description) => onChange({ description })}
          />
          <TextArea
            label="Config"
            className="mono"
            rows={2}
            spellCheck={false}
            value={content.config}
            onChange={(config) => onChange({ config })}
            hint="A JSON object for your programs. The service keeps it and never reads it."
          />
        </section>
      </div>
    </fieldset>
  );
}

function FallbackModels({
  models,
  stored,
  onChange,
}: {
  models: string[];
  stored: readonly string[];
  onChange: (models: string[]) => void;
}) {
  // One more than exist, as long as more are allowed.
  const shown = models.length < MAX_FALLBACK_MODELS && models.at(-1) !== '' ? [...models, ''] : models;
  const [open, setOpen] = useState(models.length > 0);
  return (
    <details open={open} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>Fallback models</summary>
      <div className="stack">
        {shown.map((model, index) => (
          <ModelField
            // They are identified only by their position.
            // biome-ignore lint/suspicious/noArrayIndexKey: see above
            key={index}
            label={`${index + 1}.`}
            stored={stored}
            value={model}
            onChange={(value) => onChange(shown.with(index, value).filter((each, at) => each !== '' || at < index))}
          />
        ))}
        <p className="field-hint">Tried in this order when the previous model fails permanently.</p>
      </div>
    </details>
  );
}
