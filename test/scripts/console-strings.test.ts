// biome-ignore-all lint/suspicious/noTemplateCurlyInString: these are sources
import { describe, expect, test } from '@jest/globals';
import { messagesOf } from '../../console/strings/messages.ts';
import { problemOf, problemsOf, pseudo, type Translation, translate } from '../../console/strings/translate.ts';

const keysOf = (code: string) => messagesOf('page.tsx', code).map(({ key }) => key);

describe('what is a message', () => {
  test.each([
    ['between tags, as JSX means white space', '<p>\n  Two\n  words\n</p>', ['Two words']],
    [
      'with values by their names',
      '<p>{run.count} of {total} cost {format(run.cost, 2)}</p>',
      ['{count} of {total} cost {cost}'],
    ],
    ['with values that have no name', '<p>Up to {a + b} and {c[0]}</p>', ['Up to {1} and {2}']],
    ['the same value twice', '<p>{name} is {name}</p>', ['{name} is {name}']],
    ['two values of one name', '<p>{one.name} was {other.name}</p>', ['{name} was {1}']],
    [
      'with elements in it',
      '<p>See <a href="/x">the docs</a> of <Icon /> it.</p>',
      ['See <1>the docs</1> of <2/> it.'],
    ],
    ['without icons at its ends', '<button><Icon aria-hidden /> Save {dirty && <Dot />}</button>', ['Save']],
    ['of one word and an element', '<button>Delete…<b>{name}</b></button>', ['Delete…<1/>']],
    ['with names and code at its ends', '<p><b>{name}</b> is set by <code>set</code></p>', ['<1/> is set by <2/>']],
    ['but not code', '<p>Set <code>name</code> now</p>', ['Set <1/> now']],
    ['nor what says so', '<b translate="no">Temporal</b>', []],
    ['of elements side by side', '<div><p>One of</p><p>Two of</p></div>', ['One of', 'Two of']],
    ['in attributes', '<Field label="Name" className="wide" hint={`At most ${max}`} />', ['Name', 'At most {max}']],
    ['in either branch', '<p title={a === "off" ? "Is off" : b ?? "Is on"} />', ['Is off', 'Is on']],
    ['in properties', 'const a = { label: "Name", value: "name", header: (x) => `Of ${x}` }', ['Name', 'Of {x}']],
    [
      'in what is said',
      'showToast("It was saved."); throw new Error(`No ${name}`); send("GET")',
      ['It was saved.', 'No {name}'],
    ],
    ['where it is marked', 'const WORDS = { none: t("nothing"), all: "everything" }', ['nothing']],
    ['with a context', 't("Open", "verb")', ['Open [verb]']],
    ['as a sum', '<p title={"One " + name + " two"} />', ['One {name} two']],
    ['joined', '<p title={[a && "first", "second"].filter(Boolean).join(" · ")} />', ['first', 'second']],
    [
      'of a plural with what is around it',
      '<p>Add <b>{plural(n, "row", "rows")}</b></p>',
      ['Add <1>{n} row</1>|Add <1>{n} rows</1>'],
    ],
    [
      'of a plural in a sentence',
      't(`Add ${plural(rows, "row", "rows")} to ${name}`)',
      ['Add {n} row to {name}|Add {n} rows to {name}'],
    ],
    [
      'of two counts',
      't(`${plural(a, "row", "rows")}, ${plural(b, "cell", "cells")}`)',
      ['{n} row, {b}|{n} rows, {b}', '{n} cell|{n} cells'],
    ],
    ['of a plural without its number', 'pluralWord(n, "It is", "They are")', ['It is|They are']],
    [
      'within a placeholder',
      '<p>It {ok ? "has passed" : "has failed"} now</p>',
      ['It {1} now', 'has passed', 'has failed'],
    ],
    ['with characters that mean something', '<p title="as {b} <1> c|d" />', ['as \\{b} \\<1> c\\|d']],
    [
      'but no path, number or name of the API',
      '<p title="support/tone" label={`${a} – ${b}`} hint="max_tokens">5 %</p>',
      [],
    ],
  ])('%s', (_name, code, keys) => {
    expect(keysOf(code).toSorted()).toEqual(keys.toSorted());
  });

  test('a wrong file is named', () => {
    expect(() => messagesOf('broken.tsx', '<p>')).toThrow('broken.tsx');
  });
});

describe('a translation', () => {
  const translated = (code: string, translations: Record<string, Translation>) =>
    translate('page.tsx', code, (key) => translations[key], '/format.ts');

  test.each<[string, string, Record<string, Translation>, string]>([
    ['replaces a text', '<p>Save</p>', { Save: 'Sichern' }, '<p>{"Sichern"}</p>'],
    ['of an attribute', '<p title="Save" />', { Save: 'Sichern "so"' }, '<p title={`Sichern "so"`} />'],
    ['of a property', 'f({ label: "Save" })', { Save: 'Sichern' }, 'f({ label: `Sichern` })'],
    ['reorders values', '<p>{a} of {b}</p>', { '{a} of {b}': '{b}: {a}' }, '<p>{b}{": "}{a}</p>'],
    [
      'and elements',
      '<p>See <a href="/x">docs</a>, {b}</p>',
      { 'See <1>docs</1>, {b}': '{b}: <1>Hilfe</1>' },
      '<p>{b}{": "}<a href="/x">{"Hilfe"}</a></p>',
    ],
    ['of a template', 't(`a\\n ${x} bc`)', { 'a\n {x} bc': '`${x}` {x}' }, 't(`\\`$${x}\\` ${x}`)'],
    [
      'keeps white space around it',
      'f(`x${y ? `, and ${y}` : ""}`, { hint: ` or ${z}` })',
      { 'or {z}': 'oder {z}' },
      'f(`x${y ? `, and ${y}` : ""}`, { hint: ` oder ${z}` })',
    ],
    [
      'of what is within',
      '<p>It {ok ? "passed" : f("x")} now</p>',
      { 'It {1} now': 'Nun {1}', passed: 'gut' },
      '<p>{"Nun "}{ok ? `gut` : f("x")}</p>',
    ],
    [
      'leaves the rest alone',
      '<p className="Save" id={"Save"}>{Save}</p>',
      { Save: 'Sichern' },
      '<p className="Save" id={"Save"}>{Save}</p>',
    ],
  ])('%s', (_name, code, translations, expected) => {
    expect(translated(code, translations)).toBe(expected);
  });

  test('of a plural has the forms of its language', () => {
    const forms = {
      one: '{n} wiersz do {x}',
      few: '{n} wiersze do {x}',
      many: '{n} wierszy do {x}',
      other: '{n} wiersza do {x}',
    };
    const code = translated('const said = t(`${plural(rows, "row", "rows")} to ${x}`)', {
      '{n} row to {x}|{n} rows to {x}': forms,
    });
    expect(code).toBe(
      'import { pluralOf as $pluralOf } from "/format.ts";\nconst said = t($pluralOf(rows, { one: ($n) => `${$n} wiersz do ${x}`, ' +
        'few: ($n) => `${$n} wiersze do ${x}`, many: ($n) => `${$n} wierszy do ${x}`, other: ($n) => `${$n} wiersza do ${x}` }))',
    );
  });

  test.each<[string, Translation, string | undefined]>([
    ['{a} of <1>b</1>', 'Von <1>{a}</1>', undefined],
    ['{a} of <1>b</1>', 'Von <1>{b}</1>', 'its placeholders are'],
    ['{a} of <1>b</1>', 'Von {a}', 'its placeholders are'],
    ['<1>a</1> <2>b</2>', '<1>x<2></1></2>', 'not within one another'],
    ['Save', { other: 'Sichern' }, 'it is no plural'],
    ['{n} row|{n} rows', 'Zeilen', 'it needs a text for each of: one, other'],
    ['{n} row|{n} rows', { other: '{n} Zeilen' }, 'it has no text for: one'],
    ['{n} row|{n} rows', { one: 'eine Zeile', other: '{n} Zeilen' }, undefined],
    ['{n} row|{n} rows', { one: 'eine Zeile', other: 'Zeilen' }, 'its placeholders are'],
  ])('of %j by %j', (key, translation, problem) => {
    const found = problemOf(key, translation, ['one', 'other']);
    if (problem === undefined) expect(found).toBeUndefined();
    else expect(found).toContain(problem);
  });

  test('that is wrong is named, with its error', () => {
    const catalog = new Map<string, Translation>([
      ['Save', 'Zapisz'],
      ['Sava', 'Zapisz'],
      ['{n} row|{n} rows', { one: 'wiersz', other: '{n} wiersza' }],
    ]);
    expect(problemsOf('pl', new Set(['Save', '{n} row|{n} rows']), catalog)).toEqual([
      '"Sava": the console has no such message',
      '"{n} row|{n} rows": it has no text for: few, many',
    ]);
  });

  test('of the pseudo-locale is right for any message', () => {
    for (const key of ['{a} of <1>b</1>', 'Open [verb]', '{n} row of \\{x}|{n} rows of \\{x}'])
      expect(problemOf(key, pseudo(key), ['one', 'other'])).toBeUndefined();
    expect(JSON.stringify(pseudo('Open [verb]')).normalize('NFD').replace(/\p{M}/gu, '')).toBe('"⟦Open⟧"');
    expect(pseudo('Open [verb]')).not.toContain('Open');
  });
});
