import type { Inputs } from '../../api-types.ts';
import { CheckField, SelectField, TextField } from '../../components/fields.tsx';
import { formatJson } from '../../format.ts';

const TYPES = ['string', 'number', 'boolean', 'json', 'messages', 'file'] as const;
type Input = Inputs[string];

/** Parses input as JSON if valid, otherwise as text, for defaults and choices. */
function parsed(typed: string): unknown {
  try {
    return JSON.parse(typed);
  } catch {
    return typed;
  }
}

const shown = (value: unknown) =>
  value === undefined ? '' : typeof value === 'string' ? value : formatJson(value).replace(/\n\s*/g, ' ');

/** The settings of each variable. A variable without settings is required, and accepts any value. */
export function InputsForm({
  names,
  inputs,
  onChange,
}: {
  names: readonly string[];
  inputs: Inputs;
  onChange: (inputs: Inputs) => void;
}) {
  const all = [...new Set([...names, ...Object.keys(inputs)])];
  const change = (name: string, part: Partial<Input>) => {
    const { [name]: before = { type: 'string' as const }, ...others } = inputs;
    const merged = Object.fromEntries(
      Object.entries({ ...before, ...part }).filter(([, value]) => value !== undefined),
    );
    onChange({ ...others, [name]: merged as Input });
  };
  const forget = (name: string) => {
    const { [name]: _forgotten, ...others } = inputs;
    onChange(others);
  };
  return (
    <section className="card" aria-label="Variables">
      <h2>Variables</h2>
      {all.length === 0 && <p className="muted">None: the text has no {'{{ name }}'}.</p>}
      {all.map((name) => {
        const input = inputs[name];
        return (
          <details key={name}>
            <summary>
              <code>{name}</code>{' '}
              <span className="muted">
                {input === undefined ? 'any value, required' : `${input.type}${isRequired(input) ? ', required' : ''}`}
              </span>
            </summary>
            <div className="filters">
              <SelectField
                label={`Type of ${name}`}
                value={input?.type ?? ''}
                onChange={(type) =>
                  type === '' ? forget(name) : change(name, { type: TYPES.find((each) => each === type) ?? 'string' })
                }
                options={[{ value: '', label: 'any' }, ...TYPES]}
              />
              {input !== undefined && (
                <>
                  <TextField
                    label="Default"
                    value={shown(input.default)}
                    onChange={(typed) =>
                      change(name, {
                        default: (typed === '' ? undefined : input.type === 'string' ? typed : parsed(typed)) as never,
                      })
                    }
                  />
                  <TextField
                    label="Allowed values"
                    hint="Separated by commas."
                    value={(input.enum ?? []).join(', ')}
                    onChange={(typed) => change(name, { enum: choicesOf(typed, input.type) as never })}
                  />
                  <TextField
                    label="Description"
                    value={input.description ?? ''}
                    onChange={(typed) => change(name, { description: (typed === '' ? undefined : typed) as never })}
                  />
                  <CheckField
                    label="Required"
                    checked={isRequired(input)}
                    onChange={(required) => change(name, { required })}
                  />
                </>
              )}
            </div>
          </details>
        );
      })}
    </section>
  );
}

export const isRequired = (input: Input) => input.required ?? input.default === undefined;

function choicesOf(typed: string, type: string): unknown[] | undefined {
  const choices = typed.split(',').map((choice) => choice.trimStart());
  if (typed.trim() === '') return undefined;
  return choices.map((choice) => (type === 'string' ? choice : parsed(choice)));
}
