import { useState } from 'react';
import type { Prompt } from '../../api-types.ts';
import { Button } from '../../components/button.tsx';
import { Modal } from '../../components/dialog.tsx';
import { SelectField } from '../../components/fields.tsx';
import { TextView } from '../../components/text-view.tsx';

const LANGUAGES = ['curl', 'TypeScript', 'Python'] as const;
type Language = (typeof LANGUAGES)[number];

/** Code that runs a prompt. Values of variables are made up. */
export function codeOf(
  language: Language,
  { name, variables, label, origin }: { name: string; variables: readonly string[]; label: string; origin: string },
): string {
  const values = Object.fromEntries(variables.map((variable) => [variable, '…']));
  const body = { prompt_name: name, ...(label !== '' && { label }), variables: values };
  switch (language) {
    case 'curl':
      // In a shell, a single quote must close, escape and reopen the string.
      return [
        `curl ${origin}/v1/executions \\`,
        '  -H "Authorization: Bearer $PMS_API_KEY" -H "Content-Type: application/json" \\',
        `  -d '${JSON.stringify(body).replaceAll("'", "'\\''")}'`,
      ].join('\n');
    case 'TypeScript':
      return [
        "import { Pms } from 'pms-client';",
        '',
        `const pms = new Pms({ baseUrl: ${JSON.stringify(origin)}, apiKey: process.env.PMS_API_KEY ?? '' });`,
        `const { output } = await pms.execute(${JSON.stringify(body, undefined, 2)});`,
      ].join('\n');
    case 'Python':
      return [
        'from pms_client import Pms',
        '',
        `pms = Pms(${JSON.stringify(origin)})  # the key is read from PMS_API_KEY`,
        `run = pms.execute(${[JSON.stringify(name), JSON.stringify(values), ...(label === '' ? [] : [`label=${JSON.stringify(label)}`])].join(', ')})`,
        'print(run.output)',
      ].join('\n');
  }
}

/** Code for running this prompt, to copy. */
export function UseInCode({ prompt, open, onClose }: { prompt: Prompt; open: boolean; onClose: () => void }) {
  const [language, setLanguage] = useState<Language>('curl');
  const [label, setLabel] = useState(prompt.labels[0] ?? '');
  const code = codeOf(language, {
    name: prompt.name,
    variables: prompt.variables,
    label,
    origin: window.location.origin,
  });
  return (
    <Modal
      open={open}
      onClose={onClose}
      title="Use in code"
      description="With a key that has the scope “execute”."
      wide
    >
      <div className="filters">
        <SelectField
          label="Language"
          value={language}
          onChange={(value) => setLanguage(LANGUAGES.find((each) => each === value) ?? 'curl')}
          options={LANGUAGES}
        />
        <SelectField
          label="Version"
          value={label}
          onChange={setLabel}
          options={[{ value: '', label: 'the latest' }, ...prompt.labels]}
        />
      </div>
      <TextView text={code} label="code" />
      <div className="dialog-actions">
        <Button onClick={onClose}>Close</Button>
      </div>
    </Modal>
  );
}
