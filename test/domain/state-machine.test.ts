import { describe, expect, test } from '@jest/globals';
import { defineStates } from '../../src/domain/state-machine.ts';

const door = defineStates({ open: ['closed'], closed: ['open', 'locked'], locked: [] });

describe('a state machine', () => {
  test('knows its states and its ends', () => {
    expect(door.states).toEqual(['open', 'closed', 'locked']);
    expect(door.final).toEqual(['locked']);
  });

  test('gives a change as SQL, from every state that leads there', () => {
    expect(door.change({ to: 'locked' })).toEqual({ set: "status = 'locked'", where: "status in ('closed')" });
    expect(door.change({ to: 'closed' }, 'd')).toEqual({ set: "status = 'closed'", where: "d.status in ('open')" });
  });

  test('refuses a change that there is not', () => {
    expect(() => door.change({ to: 'locked', from: ['open'] })).toThrow('There is no change from open to locked.');
    expect(() => door.change({ to: 'open', from: ['locked'] })).toThrow('There is no change from locked to open.');
  });
});
