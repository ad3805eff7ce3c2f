import { linkOptions } from '@tanstack/react-router';
import {
  Activity,
  CalendarClock,
  ChartColumn,
  Database,
  FileText,
  FlaskConical,
  Gauge,
  House,
  Inbox,
  ListTree,
  Radar,
  Rocket,
  Scale,
  Settings,
  SquareTerminal,
  TrendingUp,
  Webhook,
} from 'lucide-react';

/** The menu in order. `key` opens a page after `g`. */
export const navigation = [
  {
    title: 'Build',
    pages: [
      { label: 'Home', key: 'h', Icon: House, link: linkOptions({ to: '/' }) },
      { label: 'Prompts', key: 'p', Icon: FileText, link: linkOptions({ to: '/prompts' }) },
      { label: 'Playground', key: 'l', Icon: SquareTerminal, link: linkOptions({ to: '/playground' }) },
      { label: 'Datasets', key: 'd', Icon: Database, link: linkOptions({ to: '/datasets' }) },
    ],
  },
  {
    title: 'Judge and release',
    pages: [
      { label: 'Evaluations', key: 'e', Icon: FlaskConical, link: linkOptions({ to: '/evaluations' }) },
      { label: 'Evaluators', key: 'v', Icon: Gauge, link: linkOptions({ to: '/evaluators' }) },
      { label: 'Schedules', key: 's', Icon: CalendarClock, link: linkOptions({ to: '/schedules' }) },
      { label: 'Improvements', key: 'i', Icon: TrendingUp, link: linkOptions({ to: '/improvements' }) },
      { label: 'Releases', key: 'r', Icon: Rocket, link: linkOptions({ to: '/releases' }) },
    ],
  },
  {
    title: 'Watch',
    pages: [
      { label: 'Executions', key: 'x', Icon: Activity, link: linkOptions({ to: '/executions' }) },
      { label: 'Traces', key: 'a', Icon: ListTree, link: linkOptions({ to: '/traces' }) },
      { label: 'Rules', key: 'u', Icon: Scale, link: linkOptions({ to: '/rules' }) },
      { label: 'Queues', key: 'q', Icon: Inbox, link: linkOptions({ to: '/queues' }) },
      { label: 'Monitors', key: 'm', Icon: Radar, link: linkOptions({ to: '/monitors' }) },
      { label: 'Usage', key: 'c', Icon: ChartColumn, link: linkOptions({ to: '/usage' }) },
    ],
  },
  {
    title: 'Connect',
    pages: [
      { label: 'Webhooks', key: 'w', Icon: Webhook, link: linkOptions({ to: '/webhooks' }) },
      { label: 'Settings', key: 't', Icon: Settings, link: linkOptions({ to: '/settings' }) },
    ],
  },
] as const;

/** All pages of the menu. */
export const pages = navigation.flatMap((group) => [...group.pages]);
