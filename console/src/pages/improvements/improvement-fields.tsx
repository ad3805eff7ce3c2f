import { useQuery } from '@tanstack/react-query';
import { ComboField } from '../../components/combo-field.tsx';
import { CheckField, TextArea, TextField } from '../../components/fields.tsx';
import { ModelField } from '../../components/model-field.tsx';
import { Section } from '../../components/section.tsx';
import { EvaluatorsForm } from '../evaluations/evaluators-form.tsx';
import { DatasetFields, PromptFields } from '../evaluations/run-form-fields.tsx';
import { RunModeFields } from '../evaluations/run-mode-fields.tsx';
import { namesQuery } from '../prompts/names-query.ts';
import type { ImprovementForm } from './improvement-form-state.ts';

/** Other services would see held-out examples again and again. */
const EXCEPT = ['http'];

interface FieldsProps {
  value: ImprovementForm;
  set: (part: Partial<ImprovementForm>) => void;
}

/** The prompt, the examples, the scores, the model that rewrites, and the limits. */
export function ImprovementFields({ value, set }: FieldsProps) {
  return (
    <>
      <Section id="improve-what" className="card" title="What is improved">
        <PromptFields value={value} set={set} />
      </Section>
      <Section id="improve-examples" className="card" title="Examples">
        <DatasetFields value={value} set={set} />
        <p className="field-hint">
          About 120 different examples, better 200: a quarter to learn from, a quarter to choose by, half to prove.
        </p>
      </Section>
      <Section id="improve-scores" className="card" title="How outputs are scored">
        <EvaluatorsForm value={value.evaluators} onChange={(evaluators) => set({ evaluators })} except={EXCEPT} />
      </Section>
      <Section id="improve-writer" className="card" title="Who rewrites">
        <ModelField
          label="Model that writes candidates"
          value={value.model}
          onChange={(model) => set({ model })}
          required
          hint="A capable model: it reads failing examples and rewrites the prompt."
        />
        <TextArea
          label="Instructions that every candidate must follow"
          rows={2}
          maxLength={4_000}
          value={value.instructions}
          onChange={(instructions) => set({ instructions })}
          placeholder="Keep it short."
        />
        <TextArea
          label="Texts that must stay word for word"
          rows={2}
          value={value.keep}
          onChange={(keep) => set({ keep })}
          hint="One a line. Variables, tools and the response format always stay."
        />
      </Section>
      <Section id="improve-limits" className="card" title="Limits">
        <div className="filters">
          <TextField
            label="Maximum cost, in US dollars"
            type="number"
            min={0}
            step="any"
            required={!value.isUnlimited}
            disabled={value.isUnlimited}
            value={value.isUnlimited ? '' : value.maxCost}
            onChange={(maxCost) => set({ maxCost })}
            hint="For everything: runs, judges, rewriting and the verdict, whose part is set aside first."
          />
          <Count label="Candidates, at most" name="maxProposals" min={1} max={200} value={value} set={set} />
          <TextField
            label="End the search by"
            type="datetime-local"
            value={value.deadline}
            onChange={(deadline) => set({ deadline })}
            hint="The verdict follows."
          />
        </div>
        <CheckField
          label="No limit of the cost"
          checked={value.isUnlimited}
          onChange={(isUnlimited) => set({ isUnlimited })}
        />
        <MoreFields value={value} set={set} />
      </Section>
    </>
  );
}

type CountName = 'maxProposals' | 'patience' | 'parallel' | 'minibatch' | 'fewShot' | 'concurrency' | 'maxLength';

function Count({
  label,
  name,
  min,
  max,
  hint,
  placeholder,
  value,
  set,
}: FieldsProps & { label: string; name: CountName; min: number; max: number; hint?: string; placeholder?: string }) {
  return (
    <TextField
      label={label}
      type="number"
      min={min}
      max={max}
      step={1}
      hint={hint}
      placeholder={placeholder}
      value={value[name]}
      onChange={(typed) => set({ [name]: typed })}
    />
  );
}

function MoreFields({ value, set }: FieldsProps) {
  const names = useQuery(namesQuery).data ?? [];
  return (
    <details>
      <summary>More settings</summary>
      <div className="stack improve-more">
        <div className="filters">
          <Count
            label="Stop after so many without a new best"
            name="patience"
            min={4}
            max={200}
            value={value}
            set={set}
          />
          <Count
            label="Candidates at the same time"
            name="parallel"
            min={1}
            max={8}
            hint="More are faster and learn less from each other."
            value={value}
            set={set}
          />
          <Count
            label="Examples on which each is tried first"
            name="minibatch"
            min={4}
            max={20}
            value={value}
            set={set}
          />
        </div>
        <div className="filters">
          <Count
            label="Examples shown in the prompt, at most"
            name="fewShot"
            min={0}
            max={8}
            hint="They become part of the prompt: only with data that may be shown."
            value={value}
            set={set}
          />
          <Count
            label="Longest prompt, in characters"
            name="maxLength"
            min={100}
            max={200_000}
            placeholder="four times as long"
            value={value}
            set={set}
          />
          <Count label="Concurrency" name="concurrency" min={1} max={200} value={value} set={set} />
        </div>
        <div className="filters">
          <TextField
            label="Parts to rewrite"
            value={value.parts}
            onChange={(parts) => set({ parts })}
            placeholder="the template or the system messages"
            hint="Such as messages.0, tools.search.description"
            spellCheck={false}
          />
          <TextField
            label="Keep examples together by metadata"
            value={value.groupBy}
            onChange={(groupBy) => set({ groupBy })}
            placeholder="customer"
            spellCheck={false}
          />
          <ComboField
            label="Own prompt that asks for candidates"
            value={value.reflectionPrompt}
            onChange={(reflectionPrompt) => set({ reflectionPrompt })}
            options={names}
            placeholder="the built-in one"
            spellCheck={false}
          />
        </div>
        <RunModeFields value={value} set={set} />
      </div>
    </details>
  );
}
