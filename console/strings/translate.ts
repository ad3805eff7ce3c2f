import { findPlural, type Message, messagesOf, type Part, type Range, TOKEN } from './messages.ts';

/** A translation: a text, or one for each plural category of its language in `Intl.PluralRules`. */
export type Translation = string | Partial<Record<Intl.LDMLPluralRule, string>>;

/** The name under which `pluralOf` is imported. */
const PLURAL = '$pluralOf';
/** The name of a plural's number in a translated file. */
const NUMBER = '$n';

/** The source text of a range, translated. */
type SourceOf = (range: Range) => string;

/** The placeholders of a text, sorted by name. */
const placeholdersOf = (text: string) =>
  [...text.matchAll(TOKEN)].flatMap(([token, escaped]) => (escaped === undefined ? [token] : [])).sort();

/**
 * The problem of a translation. Undefined if there is none.
 * @param categories of the language in `Intl.PluralRules`
 */
export function problemOf(key: string, translation: Translation, categories: string[]): string | undefined {
  const english = key.replace(/ \[[^\]]*\]$/, '');
  const forms = english.split(/(?<!\\)\|/);
  const isPlural = forms.length > 1;
  if (isPlural !== (typeof translation === 'object'))
    return isPlural ? `it needs a text for each of: ${categories.join(', ')}` : 'it is no plural';
  const texts = typeof translation === 'string' ? { other: translation } : translation;
  const missing = isPlural ? categories.filter((category) => !(category in texts)) : [];
  if (missing.length > 0) return `it has no text for: ${missing.join(', ')}`;
  const wanted = placeholdersOf(forms.at(-1) ?? '');
  for (const [category, text] of Object.entries(texts)) {
    const found = placeholdersOf(text);
    // "one apple" can spell out its number.
    const needed = category === 'other' || found.includes('{n}') ? wanted : wanted.filter((name) => name !== '{n}');
    if ([...new Set(found)].join() !== [...new Set(needed)].join() || tagsOf(found).join() !== tagsOf(needed).join())
      return `its placeholders are ${found.join(' ') || 'none'}, not ${needed.join(' ') || 'none'}`;
    const order = [...text.matchAll(TOKEN)].flatMap(([, , , open, whole, close]) =>
      open !== undefined && whole === '' ? [open] : close !== undefined ? [`/${close}`] : [],
    );
    if (!isNested(order)) return 'its <1>…</1> are not within one another';
  }
  return undefined;
}

const tagsOf = (placeholders: string[]) => placeholders.filter((name) => name.startsWith('<'));

function isNested(order: string[]): boolean {
  const open: string[] = [];
  for (const tag of order)
    if (!tag.startsWith('/')) open.push(tag);
    else if (open.pop() !== tag.slice(1)) return false;
  return open.length === 0;
}

/** Maps a text's pieces with `onText` and `onToken`. A token is the match of {@link TOKEN}. */
function mapPieces(
  text: string,
  onText: (text: string) => string,
  onToken: (match: RegExpExecArray) => string,
): string {
  let result = '';
  let plain = '';
  let at = 0;
  const flush = () => {
    if (plain !== '') result += onText(plain);
    plain = '';
  };
  for (const match of text.matchAll(TOKEN)) {
    plain += text.slice(at, match.index) + (match[1] ?? '');
    at = match.index + match[0].length;
    if (match[1] !== undefined) continue;
    flush();
    result += onToken(match);
  }
  plain += text.slice(at);
  flush();
  return result;
}

/** All placeholders of a message by name. */
function namesOf(parts: Part[], names = new Map<string, Part>()): Map<string, Part> {
  for (const part of parts) {
    if (part.kind === 'value') names.set(`{${part.name}}`, part);
    if (part.kind === 'plural') namesOf([...part.one, ...part.other], names);
    if (part.kind === 'element') namesOf(part.children ?? [], names.set(`<${part.name}>`, part));
  }
  return names;
}

/** The problems of a catalog, a line for each message. */
export function problemsOf(locale: string, known: ReadonlySet<string>, catalog: ReadonlyMap<string, Translation>) {
  const { pluralCategories } = new Intl.PluralRules(locale).resolvedOptions();
  return [...catalog].flatMap(([key, translation]) => {
    const problem = known.has(key) ? problemOf(key, translation, pluralCategories) : 'the console has no such message';
    return problem === undefined ? [] : [`${JSON.stringify(key)}: ${problem}`];
  });
}

/** The replacement of a message in its file. */
function writeMessage({ parts, before, after, place }: Message, translation: Translation, source: SourceOf): string {
  const names = namesOf(parts);
  const inTags = place === 'children';
  const text = (plain: string) => (inTags ? `{${JSON.stringify(plain)}}` : plain.replace(/[\\`]|\$(?=\{)/g, '\\$&'));
  const token = ([, , value, open, isWhole, close]: RegExpExecArray) => {
    const part = names.get(value === undefined ? `<${open ?? close}>` : `{${value}}`);
    if (part?.kind === 'element') {
      const { start, end, openingElement, closingElement } = part.node;
      if (isWhole === '/') return source({ start, end });
      return close === undefined ? source(openingElement) : source(closingElement);
    }
    const expression = part?.kind === 'value' ? source(part.node) : NUMBER;
    return inTags ? `{${expression}}` : `\${${expression}}`;
  };
  const write = (words: string) => {
    const written = mapPieces(words, text, token);
    return inTags ? written : `\`${text(before)}${written}${text(after)}\``;
  };
  const space = (plain: string) => (plain === '' ? '' : text(plain));
  if (typeof translation === 'string') {
    const written = write(translation);
    if (inTags) return space(before) + written + space(after);
    return place === 'attribute' ? `{${written}}` : written;
  }
  const forms = Object.entries(translation).map(
    ([category, words]) => `${category}: (${NUMBER}) => ${inTags ? `<>${write(words)}</>` : write(words)}`,
  );
  const call = `${PLURAL}(${source(findPlural(parts)?.count)}, { ${forms.join(', ')} })`;
  return inTags ? `${space(before)}{${call}}${space(after)}` : call;
}

/**
 * Replaces every translated message of a file.
 * @param translationOf a message's translation; undefined to keep the original
 * @param strings the module with `pluralOf`, as the file would import it
 */
export function translate(
  file: string,
  code: string,
  translationOf: (key: string) => Translation | undefined,
  strings: string,
): string {
  const messages = messagesOf(file, code)
    .flatMap((message) => {
      const translation = translationOf(message.key);
      return translation === undefined ? [] : [{ message, translation }];
    })
    .sort(({ message: one }, { message: other }) => one.start - other.start || other.end - one.end);
  const source: SourceOf = ({ start, end }) => {
    let written = '';
    let at = start;
    for (const { message, translation } of messages) {
      if (message.start < at || message.end > end) continue;
      written += code.slice(at, message.start) + writeMessage(message, translation, source);
      at = message.end;
    }
    return written + code.slice(at, end);
  };
  const translated = source({ start: 0, end: code.length });
  if (!translated.includes(PLURAL)) return translated;
  return `import { pluralOf as ${PLURAL} } from ${JSON.stringify(strings)};\n${translated}`;
}

const ACCENTS = '\u0301\u0300\u0308';

/** A message in the pseudo-locale: text outside of its brackets was never translated. */
export function pseudo(key: string): Translation {
  const forms = key.replace(/ \[[^\]]*\]$/, '').split(/(?<!\\)\|/);
  const [one, other] = forms.map(
    (form) =>
      `⟦${mapPieces(
        form,
        (text) =>
          text
            .replace(/[aeiou]/gi, (vowel) => (vowel + ACCENTS[vowel.charCodeAt(0) % 3]).normalize())
            .replace(/[\\{<|]/g, '\\$&'),
        ([token]) => token,
      )}⟧`,
  );
  return other === undefined ? (one ?? '') : { one: one ?? '', other };
}
