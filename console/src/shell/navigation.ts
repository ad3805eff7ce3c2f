import { linkOptions } from '@tanstack/react-router';

/** What the menu shows, in this order. */
export const navigation = [
  { label: 'Prompts', link: linkOptions({ to: '/prompts' }) },
  { label: 'Playground', link: linkOptions({ to: '/playground' }) },
  { label: 'Executions', link: linkOptions({ to: '/executions' }) },
  { label: 'Evaluations', link: linkOptions({ to: '/evaluations' }) },
  { label: 'Releases', link: linkOptions({ to: '/releases' }) },
  { label: 'Datasets', link: linkOptions({ to: '/datasets' }) },
  { label: 'Schedules', link: linkOptions({ to: '/schedules' }) },
  { label: 'Monitors', link: linkOptions({ to: '/monitors' }) },
  { label: 'Rules', link: linkOptions({ to: '/rules' }) },
  { label: 'Queues', link: linkOptions({ to: '/queues' }) },
  { label: 'Usage', link: linkOptions({ to: '/usage' }) },
  { label: 'Webhooks', link: linkOptions({ to: '/webhooks' }) },
  { label: 'Settings', link: linkOptions({ to: '/settings' }) },
];
