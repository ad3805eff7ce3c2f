import { describe, expect, test } from '@jest/globals';
import { defineStates } from '../../src/domain/state-machine.ts';

const door = defineStates({ open: ['closed'], closed: ['open', 'locked'], locked: [] });

describe('a state machine', () => {
  test('has states and end states', () => {
    expect(door.states).toEqual(['open', 'closed', 'locked']);
    expect(door.final).toEqual(['locked']);
    expect(door.initial).toBe('open');
  });

  test('writes a change as SQL, from every state before it', () => {
    expect(door.change({ to: 'locked' })).toEqual({ set: "status = 'locked'", where: "status in ('closed')" });
    expect(door.change({ to: 'closed' }, 'd')).toEqual({ set: "status = 'closed'", where: "d.status in ('open')" });
  });

  test('works in a column of another kind', () => {
    const literals = { on: 'true', off: 'false' };
    const lamp = defineStates({ off: ['on'], on: ['off'] }, { column: 'is_on', literals });
    expect(lamp.change({ to: 'on' })).toEqual({ set: 'is_on = true', where: 'is_on in (false)' });
    expect(lamp.in(['on', 'off'], 'l')).toBe('l.is_on in (true, false)');
  });

  test('refuses an unknown change', () => {
    expect(() => door.change({ to: 'locked', from: ['open'] })).toThrow('There is no change from open to locked.');
    expect(() => door.change({ to: 'open', from: ['locked'] })).toThrow('There is no change from locked to open.');
  });
});
