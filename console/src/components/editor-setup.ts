import { defaultKeymap, history, historyKeymap } from '@codemirror/commands';
import { EditorState, type Extension } from '@codemirror/state';
import {
  Decoration,
  type DecorationSet,
  EditorView,
  keymap,
  lineNumbers,
  MatchDecorator,
  ViewPlugin,
  type ViewUpdate,
} from '@codemirror/view';
import { nonce } from '../nonce.ts';

/** Placeholders, includes, and escaped text (`src/domain/prompts/template.ts`). */
const matcher = new MatchDecorator({
  regexp: /(\\)?\{\{(?:[ \t]*[A-Za-z_]\w*|(>)[ \t]*[A-Za-z0-9._/-]+(?:@[A-Za-z0-9._-]+)?)[ \t]*\}\}/g,
  decoration: ([, isEscaped, isInclude]) =>
    Decoration.mark({ class: isEscaped ? 'cm-escaped' : isInclude ? 'cm-include' : 'cm-placeholder-name' }),
});

const placeholders = ViewPlugin.fromClass(
  class {
    decorations: DecorationSet;
    constructor(view: EditorView) {
      this.decorations = matcher.createDeco(view);
    }
    update(update: ViewUpdate) {
      this.decorations = matcher.updateDeco(update, this.decorations);
    }
  },
  { decorations: (plugin) => plugin.decorations },
);

const theme = EditorView.theme({
  '&': { color: 'var(--text)', backgroundColor: 'var(--surface)', fontSize: '0.8125rem' },
  '&.cm-focused': { outline: 'none' },
  '.cm-scroller': { fontFamily: 'var(--mono)', lineHeight: '1.55' },
  '.cm-content': { caretColor: 'var(--text)', padding: '0.5rem 0' },
  '.cm-cursor, .cm-dropCursor': { borderLeftColor: 'var(--text)' },
  '&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground': {
    backgroundColor: 'var(--accent-soft)',
  },
  '.cm-gutters': { backgroundColor: 'var(--surface-raised)', color: 'var(--text-muted)', border: 'none' },
  '.cm-placeholder-name': { backgroundColor: 'var(--accent-soft)', color: 'var(--accent)', borderRadius: '3px' },
  '.cm-include': { backgroundColor: 'var(--good-soft)', color: 'var(--good)', borderRadius: '3px' },
  '.cm-escaped': { color: 'var(--text-muted)' },
  '.cm-collapsedLines': { background: 'var(--surface-raised)', color: 'var(--text-muted)' },
  '.cm-changedLine': { backgroundColor: 'transparent' },
  '&.cm-merge-a .cm-changedText, &.cm-merge-a .cm-deletedChunk': { background: 'var(--bad-soft)', color: 'var(--bad)' },
  '&.cm-merge-b .cm-changedText': { background: 'var(--good-soft)', color: 'var(--good)' },
});

/** Shared setup of all editors. Each needs the nonce because scripts add the styles. */
export function editorSetup(label: string, { readOnly = false }: { readOnly?: boolean } = {}): Extension[] {
  return [
    EditorView.cspNonce.of(nonce),
    EditorView.contentAttributes.of({ 'aria-label': label, spellcheck: 'true', ...(readOnly && { tabindex: '0' }) }),
    EditorView.lineWrapping,
    lineNumbers(),
    placeholders,
    theme,
    // Tab moves on, as in any form, so that the keyboard is not trapped in the editor.
    ...(readOnly
      ? [EditorState.readOnly.of(true), EditorView.editable.of(false)]
      : [history(), keymap.of([...defaultKeymap, ...historyKeymap])]),
  ];
}
