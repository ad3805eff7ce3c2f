import { expect, test } from '@jest/globals';
import { alertRules, dashboardQueries, readProjectFile } from '../support/monitoring-files.ts';

const rules = alertRules();
const runbook = readProjectFile('docs/runbook.md');
const page = readProjectFile('docs/monitoring.md');

/** The text of a section of the runbook, which has the name of its alert. */
function sectionOf(alert: string): string {
  const [, section = ''] = runbook.split(new RegExp(`^### ${alert}$`, 'm'));
  return section.split(/^##/m)[0] ?? '';
}

test('alerts have the labels and annotations that a notification needs', () => {
  expect(rules.length).toBeGreaterThan(25);
  expect(new Set(rules.map(({ alert }) => alert)).size).toBe(rules.length);
  for (const rule of rules) {
    expect(rule).toMatchObject({
      alert: expect.stringMatching(/^Pms[A-Z]\w+$/),
      severity: expect.stringMatching(/^(critical|warning|info)$/),
      service: 'prompt-management-service',
      runbookUrl: `docs/runbook.md#${rule.alert.toLowerCase()}`,
    });
    for (const text of [rule.expr, rule.summary, rule.description]) expect(text).not.toBe('');
  }
});

test.each(rules.map(({ alert }) => alert))('%s has a section of the runbook, with something to run', (alert) => {
  const section = sectionOf(alert);
  expect(section.length).toBeGreaterThan(100);
  expect(section).toMatch(/^```sh$|\]\(#/m);
});

test('the runbook has no section of a missing alert', () => {
  const sections = [...runbook.matchAll(/^### (Pms\w+)$/gm)].map(([, name]) => name);
  expect(sections).toEqual(rules.map(({ alert }) => alert));
});

test('the page lists every alert with its severity', () => {
  const listed = [...page.matchAll(/^\| \[(Pms\w+)\]\(runbook\.md#(\w+)\) \| (\w+) \|/gm)].map(
    ([, alert, anchor, severity]) => ({ alert, anchor, severity }),
  );
  expect(listed).toEqual(rules.map(({ alert, severity }) => ({ alert, anchor: alert.toLowerCase(), severity })));
});

test('unit tests have a case in which each alert fires, and one in which it stays silent', () => {
  const cases = readProjectFile('deploy/prometheus/prompt-management-service.test.yml')
    .split(/^ {2}- name: /m)
    .slice(1);
  for (const { alert, severity } of rules) {
    const [silent, fires] = ['stays silent', 'fires'].map((how) =>
      cases.find((each) => each.startsWith(`${alert} ${how}\n`)),
    );
    expect(silent).toContain('exp_samples: []');
    expect(fires).toContain(`severity="${severity}"`);
    for (const each of [silent, fires]) expect(each).toContain(`alertname="${alert}"`);
  }
});

test('the dashboard has a selectable data source, and no panel is without title, unit and query', () => {
  const dashboard = JSON.parse(readProjectFile('deploy/grafana/prompt-management-service.json'));
  const names = dashboard.templating.list.map(({ name }: { name: string }) => name);
  expect(names).toEqual(['datasource', 'job']);
  expect(new Set(dashboard.panels.map(({ id }: { id: number }) => id)).size).toBe(dashboard.panels.length);
  const text = JSON.stringify(dashboard);
  expect(text.match(/"uid":"(?!\$\{datasource\}|prompt-management-service)/)).toBeNull();
  for (const panel of dashboard.panels) {
    expect(panel.title).toMatch(/\S/);
    if (panel.type === 'row') continue;
    expect(panel.fieldConfig.defaults.unit).toMatch(/\S/);
    expect(panel.targets.length).toBeGreaterThan(0);
  }
  // Side by side, and one below the other: none covers another.
  const cells = dashboard.panels.flatMap(({ gridPos: { x, y, w, h } }: { gridPos: Record<string, number> }) =>
    Array.from(
      { length: (w ?? 0) * (h ?? 0) },
      (_, at) => `${(x ?? 0) + (at % (w ?? 1))} ${(y ?? 0) + Math.floor(at / (w ?? 1))}`,
    ),
  );
  expect(new Set(cells).size).toBe(cells.length);
  for (const { expr } of dashboardQueries()) expect(expr).toContain('job=~"$job"');
});

test('the alerts linked from a section exist', () => {
  const anchors = new Set(rules.map(({ alert }) => alert.toLowerCase()));
  const linked = [...runbook.matchAll(/\]\(#(pms\w+)\)/g)].map(([, anchor = '']) => anchor);
  expect(linked.length).toBeGreaterThan(10);
  expect(linked.filter((anchor) => !anchors.has(anchor))).toEqual([]);
});
