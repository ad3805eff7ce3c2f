/** The section of a version in a changelog. */
export interface Section {
  /** `YYYY-MM-DD`; undefined if it has none. */
  date: string | undefined;
  /** Markdown, without the heading. */
  body: string;
}

const HEADING = /^## \[([^\]]+)\](?: - (\d{4}-\d{2}-\d{2}))?[^\n]*\n/gm;

/** The section of a version, or of `Unreleased`. The form is that of Keep a Changelog. */
export function sectionOf(changelog: string, version: string): Section | undefined {
  const headings = [...changelog.matchAll(HEADING)];
  const index = headings.findIndex(([, name]) => name === version);
  const heading = headings[index];
  if (heading === undefined) return undefined;
  const body = changelog.slice(heading.index + heading[0].length, headings[index + 1]?.index);
  return { date: heading[2], body: body.trim() };
}

/**
 * Turns the unreleased section into the section of a version, with a date. An existing section of the version keeps its content, and
 * gets the date.
 * @throws Error if there is no section `Unreleased`, or it is empty
 */
export function dateVersion(changelog: string, version: string, date: string): string {
  const heading = `## [${version}] - ${date}\n`;
  if (sectionOf(changelog, version) !== undefined)
    return changelog.replace(HEADING, (whole, name: string) => (name === version ? heading : whole));
  const unreleased = sectionOf(changelog, 'Unreleased');
  if (unreleased === undefined) throw new Error('CHANGELOG.md has no section "## [Unreleased]".');
  if (unreleased.body === '') throw new Error('CHANGELOG.md says of nothing that it is unreleased.');
  return changelog.replace(/^## \[Unreleased\]\n/m, (whole) => `${whole}\n${heading}`);
}

/** The release notes: its section of the changelog. @throws Error if there is none */
export function releaseNotes(changelog: string, version: string): string {
  const section = sectionOf(changelog, version);
  if (section === undefined) throw new Error(`CHANGELOG.md has no section of ${version}.`);
  return `# ${version}\n\n${section.body}\n`;
}
