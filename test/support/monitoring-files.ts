import { readFileSync } from 'node:fs';
import path from 'node:path';
import { PROJECT } from './processes.ts';

/** An alert rule, as far as tests use it. */
export interface AlertRule {
  alert: string;
  expr: string;
  severity: string;
  service: string;
  summary: string;
  description: string;
  runbookUrl: string;
}

export const readProjectFile = (file: string) => readFileSync(path.join(PROJECT, file), 'utf8');

const unquoted = (value: string) => (value.startsWith("'") ? value.slice(1, -1).replaceAll("''", "'") : value);

/** The shipped alert rules. Each of their fields is on a separate line. */
export function alertRules(): AlertRule[] {
  const text = readProjectFile('deploy/prometheus/prompt-management-service.rules.yml');
  return text
    .split(/^ {6}- alert: /m)
    .slice(1)
    .map((rule) => {
      const field = (name: string) => unquoted(new RegExp(`^ +${name}: (.*)$`, 'm').exec(rule)?.[1] ?? '');
      return {
        alert: rule.split('\n', 1)[0] ?? '',
        expr: field('expr'),
        severity: field('severity'),
        service: field('service'),
        summary: field('summary'),
        description: field('description'),
        runbookUrl: field('runbook_url'),
      };
    });
}

/** A query of the dashboard that is shipped, with the title of its panel. */
export function dashboardQueries(): { title: string; expr: string }[] {
  const { panels } = JSON.parse(readProjectFile('deploy/grafana/prompt-management-service.json')) as {
    panels: { title: string; targets?: { expr: string }[] }[];
  };
  return panels.flatMap(({ title, targets = [] }) => targets.map(({ expr }) => ({ title, expr })));
}

/** The names in a query: metrics with the labels that it compares, and the labels that it groups by. */
export interface NamedByQuery {
  selectors: { metric: string; matchers: { label: string; operator: string; value: string }[] }[];
  grouping: string[];
}

/** Reads it from PromQL of the kind that is shipped: names, selectors in braces, and `by (…)`. */
export function namedBy(expr: string): NamedByQuery {
  const grouping = [...expr.matchAll(/\b(?:by|ignoring|on)\s*\(([^)]*)\)/g)].flatMap(([, labels = '']) =>
    labels.split(',').map((label) => label.trim()),
  );
  const selectors = [...expr.matchAll(/\b((?:pms|process|nodejs)_\w+|up\b)(?:\{([^}]*)\})?/g)].map(
    ([, metric = '', inside = '']) => ({
      metric,
      matchers: [...inside.matchAll(/(\w+)(=~|!~|!=|=)"([^"]*)"/g)].map(
        ([, label = '', operator = '', value = '']) => ({ label, operator, value }),
      ),
    }),
  );
  return { selectors, grouping };
}
