import { type Found, MAX_QUESTION_LENGTH } from './search.ts';

const ENTITIES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };
export const escapeHtml = (text: string) => text.replace(/[&<>"']/g, (character) => ENTITIES[character] ?? '');

/** A page of the guides. @param content as HTML */
export function guidePage(title: string, content: string, question = ''): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(title)}</title>
<link rel="stylesheet" href="/docs/guides.css">
</head>
<body>
<header>
<nav aria-label="Documentation"><a href="/docs/guides">Guides</a> <a href="/docs">API</a> <a href="/console">Console</a></nav>
<form action="/docs/search" role="search">
<input type="search" name="q" value="${escapeHtml(question)}" maxlength="${MAX_QUESTION_LENGTH}" aria-label="Search the guides" placeholder="How do I …?">
<button>Search</button>
</form>
</header>
<main>
${content}
</main>
</body>
</html>
`;
}

/** Renders search results as page content. */
export function foundPage(question: string, found: Found[]): string {
  const items = found.map(
    ({ guide, heading, address, excerpt }) =>
      `<li><a href="${escapeHtml(address)}">${escapeHtml(heading)}</a> <small>${escapeHtml(guide)}</small><p>${escapeHtml(excerpt)}</p></li>`,
  );
  const none =
    question === '' ? '<p>Ask a question, or give some words.</p>' : '<p>Nothing was found. Try other words.</p>';
  const list = items.length === 0 ? none : `<ol class="found">\n${items.join('\n')}\n</ol>`;
  return guidePage('Search the guides', `<h1>Search</h1>\n${list}`, question);
}

export const STYLE = `:root { color-scheme: light dark; --line: light-dark(#d5d9de, #3b4148); --code: light-dark(#f3f4f6, #22262b); --link: light-dark(#0b57b7, #8ab8ff); }
* { box-sizing: border-box; }
body { margin: 0; font: 16px/1.55 system-ui, sans-serif; color: light-dark(#1b1f24, #e4e7eb); background: light-dark(#fff, #15181c); }
header { display: flex; flex-wrap: wrap; gap: 0.75rem 1.5rem; align-items: center; padding: 0.75rem 1.25rem; border-bottom: 1px solid var(--line); }
header nav { display: flex; gap: 1rem; }
header form { display: flex; flex: 1; gap: 0.5rem; max-width: 34rem; }
input { flex: 1; min-width: 8rem; padding: 0.35rem 0.6rem; font: inherit; color: inherit; background: transparent; border: 1px solid light-dark(#767c84, #868d96); border-radius: 6px; }
button { padding: 0.35rem 0.9rem; font: inherit; }
main { max-width: 60rem; margin: 0 auto; padding: 1rem 1.25rem 4rem; }
a { color: var(--link); }
img { max-width: 100%; height: auto; }
code { padding: 0.1em 0.3em; font: 0.875em ui-monospace, monospace; background: var(--code); border-radius: 4px; }
pre { padding: 0.8rem 1rem; overflow-x: auto; background: var(--code); border-radius: 6px; }
pre code { padding: 0; }
.table { overflow-x: auto; }
table { border-collapse: collapse; }
th, td { padding: 0.35rem 0.7rem; text-align: left; vertical-align: top; border: 1px solid var(--line); }
.found p { margin: 0.1rem 0 0.9rem; overflow-wrap: anywhere; }
`;
