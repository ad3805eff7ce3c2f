import { describe, expect, test } from '@jest/globals';
import { mapLabels, mapNames, VariableNames } from '../../../cli/src/names.ts';
import { promptNameProblem } from '../../../src/domain/prompts/prompt-name.ts';
import { seeded } from './support.ts';

describe('names of other products', () => {
  test('stay if they are valid', () => {
    expect([...mapNames('prompt', ['a/b.c', 'Support_1'])]).toEqual([
      ['a/b.c', 'a/b.c'],
      ['Support_1', 'Support_1'],
    ]);
  });

  test.each([
    ['Träume & more', 'Tr-ume-more'],
    ['/a//b/', '_/a/_/b/_'],
    ['a/../b', 'a/_/b'],
    ['a/versions', 'a/versions_'],
    ['versions/a', 'versions/a'],
    ['', '_'],
  ])('"%s" becomes "%s"', (text, name) => {
    expect(mapNames('prompt', [text]).get(text)).toBe(name);
  });

  test('never merge, whatever their order', () => {
    const texts = ['a b', 'a-b', 'a!b', 'a?b', 'a-b-1', `${'x'.repeat(300)}1`, `${'x'.repeat(300)}2`];
    const names = mapNames('prompt', texts);
    expect(new Set(names.values()).size).toBe(texts.length);
    expect(names.get('a-b')).toBe('a-b');
    expect(new Map(mapNames('prompt', texts.toReversed()))).toEqual(names);
  });

  test('become valid names of the service', () => {
    const random = seeded(3);
    const alphabet = ['a', 'B', '/', '/', '.', '..', ' ', '-', 'ü', '👋', 'versions', 'labels', '@', '\n', '%2F'];
    const texts = Array.from({ length: 2_000 }, () =>
      Array.from({ length: Math.floor(random() * 8) }, () => alphabet[Math.floor(random() * alphabet.length)]).join(''),
    );
    const names = mapNames('prompt', texts);
    expect(new Set(names.values()).size).toBe(new Set(texts).size);
    for (const name of names.values()) expect(promptNameProblem(name)).toBeUndefined();
  });

  test('labels and variables differ, too', () => {
    const labels = mapLabels(['latest', 'Beta Test', 'Beta-Test', 'é'.repeat(80)]);
    expect(new Set(labels.values()).size).toBe(4);
    expect(labels.get('Beta-Test')).toBe('Beta-Test');
    const variables = new VariableNames();
    const names = ['user.name', 'user-name', '1st', 'ok'].map((name) => variables.of(name));
    expect(new Set(names).size).toBe(4);
    expect([names[0], names[2], names[3]]).toEqual(['user_name', '_1st', 'ok']);
    expect(() => variables.of('user_name')).toThrow('would get the same name');
  });
});
