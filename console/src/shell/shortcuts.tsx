import { useNavigate } from '@tanstack/react-router';
import { lazy, Suspense, useEffect, useRef, useState } from 'react';
import { Modal } from '../components/dialog.tsx';
import { CheckField } from '../components/fields.tsx';
import { isRaw, setRaw } from '../components/raw.tsx';
import { t } from '../strings.ts';
import { pages } from './navigation.ts';
import { hasDialog, keysAreOn, setKeysOn, TYPED } from './single-keys.ts';

const CommandPalette = lazy(() =>
  import('./command-palette.tsx').then((module) => ({ default: module.CommandPalette })),
);

/** How long to wait for a key after `g`. */
const SEQUENCE_MS = 1_500;

/** Opens the command palette from a button. */
export const OPEN_PALETTE = 'pms-open-palette';

const ON_A_PAGE = [
  ['j', t('the next row')],
  ['k', t('the row before')],
  ['Enter', t('opens it')],
  ['/', t('to the search of the page')],
  ['e', t('the next failed step of a trace')],
  ['v', t('toggles rendered and raw text')],
] as const;

/** Lists the keyboard shortcuts. */
function ShortcutsDialog({ open, onClose }: { open: boolean; onClose: () => void }) {
  const [on, setOn] = useState(keysAreOn);
  return (
    <Modal open={open} onClose={onClose} title="Keyboard shortcuts" wide>
      <div className="grid-2">
        <section className="stack">
          <h3>Everywhere</h3>
          <dl className="shortcuts">
            <dt>
              <kbd>Ctrl</kbd> <kbd>K</kbd>
            </dt>
            <dd>opens any page, runs any command</dd>
            <dt>
              <kbd>?</kbd>
            </dt>
            <dd>these shortcuts</dd>
            <dt>
              <kbd>Esc</kbd>
            </dt>
            <dd>closes the open dialog or panel</dd>
          </dl>
          <h3>On a page</h3>
          <dl className="shortcuts">
            {ON_A_PAGE.map(([key, does]) => (
              <div key={key}>
                <dt>
                  <kbd>{key}</kbd>
                </dt>
                <dd>{does}</dd>
              </div>
            ))}
          </dl>
        </section>
        <section className="stack">
          <h3>Pages</h3>
          <dl className="shortcuts">
            {pages.map(({ key, label }) => (
              <div key={key}>
                <dt>
                  <kbd>g</kbd> <kbd>{key}</kbd>
                </dt>
                <dd>{label}</dd>
              </div>
            ))}
          </dl>
        </section>
      </div>
      <CheckField
        label="Single-key shortcuts"
        checked={on}
        onChange={(checked) => {
          setOn(checked);
          setKeysOn(checked);
        }}
      />
      <p className="field-hint">Turn them off if you use speech input. Ctrl+K and Esc stay.</p>
    </Modal>
  );
}

/** The shortcuts that work on every page. */
export function Shortcuts() {
  const navigate = useNavigate();
  const [opened, setOpened] = useState<'palette' | 'shortcuts'>();
  const since = useRef(Number.NEGATIVE_INFINITY);
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      const { key, target } = event;
      if (event.isComposing || event.altKey) return;
      const used = () => {
        // Prevents shortcuts of the page from reacting to the same key.
        event.preventDefault();
        event.stopPropagation();
      };
      if (event.ctrlKey || event.metaKey) {
        if (key.toLowerCase() !== 'k' || event.shiftKey || (hasDialog() && opened !== 'palette')) return;
        used();
        setOpened((before) => (before === 'palette' ? undefined : 'palette'));
        return;
      }
      const isTyped = target instanceof Element && target.matches(TYPED);
      if (isTyped || hasDialog() || !keysAreOn()) return;
      const isSecond = event.timeStamp - since.current < SEQUENCE_MS;
      since.current = Number.NEGATIVE_INFINITY;
      const page = isSecond ? pages.find((each) => each.key === key) : undefined;
      if (page !== undefined) {
        used();
        void navigate(page.link);
      } else if (key === 'g') {
        used();
        since.current = event.timeStamp;
      } else if (key === '?') {
        used();
        setOpened('shortcuts');
      } else if (key === 'v') {
        used();
        setRaw(!isRaw());
      } else if (key === '/') {
        const field = document.querySelector<HTMLInputElement>('main :is(search input, input[type=search])');
        if (field === null) return;
        used();
        field.focus();
      }
    };
    const open = () => setOpened('palette');
    // Before the listeners of pages.
    window.addEventListener('keydown', press, true);
    window.addEventListener(OPEN_PALETTE, open);
    return () => {
      window.removeEventListener('keydown', press, true);
      window.removeEventListener(OPEN_PALETTE, open);
    };
  }, [navigate, opened]);
  const close = () => setOpened(undefined);
  return (
    <>
      <Suspense>{opened === 'palette' && <CommandPalette open onClose={close} />}</Suspense>
      <ShortcutsDialog open={opened === 'shortcuts'} onClose={close} />
    </>
  );
}
