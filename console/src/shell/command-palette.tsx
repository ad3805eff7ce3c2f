import { Autocomplete } from '@base-ui/react/autocomplete';
import { Dialog } from '@base-ui/react/dialog';
import { keepPreviousData, useQuery, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useDeferredValue, useMemo, useState } from 'react';
import { type Command, type CommandGroup, fixedCommands, foundCommands } from './commands.ts';
import { type Scope, useSession } from './session.ts';

const textOf = ({ label, words = '' }: Command) => `${label} ${words}`;

/** Opens any page and object, and starts any action, after a few letters. */
export function CommandPalette({ open, onClose }: { open: boolean; onClose: () => void }) {
  const client = useQueryClient();
  const navigate = useNavigate();
  const scopes: readonly string[] = useSession()?.key.scopes ?? [];
  const [typed, setTyped] = useState('');
  const asked = useDeferredValue(typed.trim());
  const found = useQuery({
    queryKey: ['palette', 'found', asked],
    queryFn: () => foundCommands(client, navigate, asked),
    enabled: open && asked !== '',
    placeholderData: keepPreviousData,
  });
  const groups = useMemo((): CommandGroup[] => {
    const may = (scope: Scope) => scopes.includes(scope) || scopes.includes('admin');
    const fits = (command: Command) => textOf(command).toLowerCase().includes(asked.toLowerCase());
    const fixed = fixedCommands(navigate, may).map(({ value, items }) => ({ value, items: items.filter(fits) }));
    return [...fixed, ...((asked !== '' && found.data) || [])].filter(({ items }) => items.length > 0);
  }, [scopes, navigate, asked, found.data]);
  const close = () => {
    setTyped('');
    onClose();
  };
  return (
    <Dialog.Root open={open} onOpenChange={(isOpen) => !isOpen && close()}>
      <Dialog.Portal>
        <Dialog.Backdrop className="backdrop" />
        <Dialog.Popup className="dialog palette">
          <Dialog.Title className="visually-hidden">Go to or do</Dialog.Title>
          <Autocomplete.Root
            inline
            open
            items={groups}
            mode="none"
            value={typed}
            onValueChange={setTyped}
            autoHighlight="always"
            keepHighlight
            itemToStringValue={textOf}
          >
            <Autocomplete.Input
              className="palette-input"
              aria-label="Go to or do"
              placeholder="A page, a prompt, a dataset, an id, an action…"
            />
            <Autocomplete.Empty className="palette-empty">
              {found.isFetching
                ? 'Searching…'
                : typed === ''
                  ? ''
                  : 'No matches. Try another part of the name, or an id.'}
            </Autocomplete.Empty>
            <Autocomplete.List className="palette-list">
              {(group: CommandGroup) => (
                <Autocomplete.Group key={group.value} items={group.items}>
                  <Autocomplete.GroupLabel className="menu-label">{group.value}</Autocomplete.GroupLabel>
                  <Autocomplete.Collection>
                    {(command: Command) => (
                      <Autocomplete.Item
                        key={command.id}
                        value={command}
                        className="menu-item"
                        onClick={() => {
                          close();
                          void command.run();
                        }}
                      >
                        {command.label}
                        {command.detail && <span className="muted">{command.detail}</span>}
                      </Autocomplete.Item>
                    )}
                  </Autocomplete.Collection>
                </Autocomplete.Group>
              )}
            </Autocomplete.List>
          </Autocomplete.Root>
          {found.error && (
            <p role="alert" className="palette-empty">
              The search failed: {found.error.message}
            </p>
          )}
        </Dialog.Popup>
      </Dialog.Portal>
    </Dialog.Root>
  );
}
