import { Link, type LinkOptions, linkOptions } from '@tanstack/react-router';
import { Circle, CircleCheck } from 'lucide-react';
import type { Home } from './queries.ts';

interface Step {
  title: string;
  why: string;
  isDone: boolean;
  link: LinkOptions;
  action: string;
}

function stepsOf(home: Home): Step[] {
  const [prompt] = home.prompts.data ?? [];
  const [dataset] = home.datasets.data ?? [];
  const ofPrompt = prompt === undefined ? {} : { prompt: prompt.name };
  return [
    {
      title: 'Write a prompt',
      why: 'A named text for a model. Each change makes a version. The model sandbox/echo costs nothing.',
      isDone: prompt !== undefined,
      link: linkOptions({ to: '/prompts', search: { dialog: 'new' } }),
      action: 'New prompt…',
    },
    {
      title: 'Run it',
      why: 'Fill in its variables and see what the model says, with its cost and time.',
      isDone: (home.executions.data?.length ?? 0) > 0,
      link: linkOptions({ to: '/playground', search: ofPrompt }),
      action: 'Open the playground',
    },
    {
      title: 'Collect examples',
      why: 'A dataset holds variables and expected outputs. Save one from the playground, or upload a file.',
      isDone: dataset !== undefined,
      link: linkOptions({ to: '/datasets' }),
      action: 'Datasets',
    },
    {
      title: 'Evaluate it',
      why: 'Runs the prompt on every example, scores the outputs, and lists the examples that got worse.',
      isDone: (home.evaluations.data?.length ?? 0) > 0,
      link: linkOptions({
        to: '/evaluations/new',
        search: { ...ofPrompt, ...(dataset !== undefined && { dataset: dataset.name }) },
      }),
      action: 'New evaluation…',
    },
    {
      title: 'Release it',
      why: 'Callers ask for a label such as production. Moving it, immediately or step by step, changes the version that they get.',
      isDone: (home.prompts.data ?? []).some(({ all_labels }) => all_labels.length > 0),
      link:
        prompt === undefined
          ? linkOptions({ to: '/prompts' })
          : linkOptions({ to: '/prompts/$', params: { _splat: prompt.name }, search: { tab: 'versions' } }),
      action: 'Set a label',
    },
  ];
}

/** First steps, shown until all have been done once. */
export function Checklist({ home }: { home: Home }) {
  const { prompts, datasets, evaluations, executions } = home;
  if ([prompts, datasets, evaluations, executions].some(({ data }) => data === undefined)) return null;
  const steps = stepsOf(home);
  const next = steps.findIndex(({ isDone }) => !isDone);
  if (next < 0) return null;
  return (
    <section className="card" aria-labelledby="first">
      <h2 id="first">
        First steps <span className="muted">{steps.filter(({ isDone }) => isDone).length} of 5</span>
      </h2>
      <ol className="checklist">
        {steps.map(({ title, why, isDone, link, action }, index) => (
          <li key={title} className="checklist-step">
            {isDone ? (
              <CircleCheck className="icon checklist-done" aria-label="done" role="img" />
            ) : (
              <Circle className="icon" aria-label="to do" role="img" />
            )}
            <div>
              <h3>{title}</h3>
              {!isDone && <p className="muted">{why}</p>}
            </div>
            {!isDone && (
              <Link {...link} className={index === next ? 'button primary' : 'button'}>
                {action}
              </Link>
            )}
          </li>
        ))}
      </ol>
    </section>
  );
}
