import { ScoreField } from '../scores/score-field.tsx';
import { keyedChoicesOf, type ValueType } from '../scores/score-value.ts';

/** A score of a reviewer, with a key for each value if there are only a few. */
export function ReviewScore({
  name,
  index,
  type,
  description,
  active,
  value,
  onChange,
  onActive,
}: {
  name: string;
  index: number;
  type: ValueType;
  description: string | null;
  /** Whether it handles the number keys. */
  active: boolean;
  value: string;
  onChange: (value: string) => void;
  onActive: () => void;
}) {
  const choices = keyedChoicesOf(type);
  const className = active ? 'review-score active' : 'review-score';
  if (choices === undefined)
    return (
      <fieldset className={className} aria-label={name} data-score={index} onFocus={onActive}>
        <ScoreField label={name} type={type} value={value} onChange={onChange} required={false} />
        {description !== null && <p className="field-hint">{description}</p>}
      </fieldset>
    );
  return (
    <fieldset className={className} data-score={index} onFocus={onActive}>
      <legend>{name}</legend>
      {description !== null && <p className="field-hint">{description}</p>}
      <div className="row">
        {choices.map((choice) => (
          <label key={choice.value} className="check review-choice">
            <input
              type="radio"
              name={`score-${index}`}
              value={choice.value}
              checked={value === choice.value}
              onChange={() => onChange(choice.value)}
            />
            {choice.label}
            {choice.key !== undefined && choice.key !== choice.label && (
              <span className="key" aria-hidden="true">
                {choice.key}
              </span>
            )}
          </label>
        ))}
      </div>
    </fieldset>
  );
}
