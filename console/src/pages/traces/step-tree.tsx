import { useVirtualizer } from '@tanstack/react-virtual';
import { ChevronDown, ChevronRight, ClockAlert } from 'lucide-react';
import { type KeyboardEvent, memo, useEffect, useRef } from 'react';
import { formatMs } from '../../format.ts';
import { t } from '../../strings.ts';
import { StepIcon } from './step-icons.tsx';
import { hasSteps, type Tree, type TreeStep } from './tree.ts';

// As in traces.css.
const ROW_HEIGHT_PX = 32;
/** How many steps Page Down moves. */
const PAGE = 10;

export const rowId = (id: string) => `step-${id}`;

interface RowProps {
  placed: TreeStep;
  totalMs: number;
  startPx: number;
  isCurrent: boolean;
  isClosed: boolean;
  onChoose: (placed: TreeStep) => void;
  onToggle: (placed: TreeStep) => void;
}

/** A step: its name in the tree, and its bar on the timeline. */
const Row = memo(({ placed, totalMs, startPx, isCurrent, isClosed, onChoose, onToggle }: RowProps) => {
  const { step, depth, position, siblings, isOrphan, begin, took, shiftedMs } = placed;
  const isParent = hasSteps(placed);
  const from = Math.min((begin / totalMs) * 100, 99.5);
  const width = Math.min(Math.max((((took ?? totalMs - begin) || 0) / totalMs) * 100, 0.5), 100 - from);
  const Chevron = isClosed ? ChevronRight : ChevronDown;
  return (
    // The tree has the focus and handles keys.
    // biome-ignore lint/a11y/useKeyWithClickEvents: see above
    <div
      role="treeitem"
      id={rowId(step.id)}
      className="step-row"
      aria-level={depth + 1}
      aria-posinset={position}
      aria-setsize={siblings.count}
      aria-expanded={isParent ? !isClosed : undefined}
      aria-selected={isCurrent}
      data-status={step.status}
      style={{ transform: `translateY(${startPx}px)`, '--depth': depth } as object}
      onClick={() => onChoose(placed)}
    >
      <span className="step-name">
        {/* The left and right arrow keys do the same. */}
        {/* biome-ignore lint/a11y/noStaticElementInteractions: see above */}
        {/* biome-ignore lint/a11y/useKeyWithClickEvents: see above */}
        <span
          className="step-chevron"
          onClick={(event) => {
            if (!isParent) return;
            event.stopPropagation();
            onToggle(placed);
          }}
        >
          {isParent && <Chevron className="icon" aria-hidden />}
        </span>
        <StepIcon type={step.type} />
        <span className="step-text">
          <span className="visually-hidden">{step.type} </span>
          {step.name}
        </span>
        {step.status === 'error' && <span className="badge bad">error</span>}
        {isOrphan && (
          <span className="badge warn" title="The step above it has not arrived">
            no parent
          </span>
        )}
        {shiftedMs > 0 && (
          <span
            className="step-shifted"
            title={`Shown ${formatMs(shiftedMs)} later, because its clock is behind the clock of the parent step`}
          >
            <ClockAlert className="icon" aria-hidden />
            <span className="visually-hidden"> shown {formatMs(shiftedMs)} later</span>
          </span>
        )}
      </span>
      <span className="step-took">{took === undefined ? t('running') : formatMs(took)}</span>
      <span className="step-track" aria-hidden="true">
        <span className={`step-bar ${step.status}`} style={{ marginInlineStart: `${from}%`, width: `${width}%` }} />
      </span>
    </div>
  );
});

/**
 * The steps of a trace as a tree with a timeline. Only the visible rows are in the DOM. The up and down arrow keys move between steps, the right one
 * opens a step and moves into it, the left one closes it and moves out.
 */
export function StepTree({
  tree,
  shown,
  current,
  closed,
  onChoose,
  onToggle,
  onRead,
}: {
  tree: Tree;
  /** The steps without closed ancestors. */
  shown: readonly TreeStep[];
  current: TreeStep | undefined;
  /** Ids. */
  closed: ReadonlySet<string>;
  onChoose: (placed: TreeStep) => void;
  onToggle: (placed: TreeStep) => void;
  /** Moves to the details of the current step. */
  onRead: () => void;
}) {
  const scroll = useRef<HTMLDivElement>(null);
  const virtual = useVirtualizer({
    count: shown.length,
    getScrollElement: () => scroll.current,
    estimateSize: () => ROW_HEIGHT_PX,
    overscan: 12,
    getItemKey: (index) => shown[index]?.step.id ?? index,
  });
  const at = current === undefined ? -1 : shown.findIndex(({ index }) => index === current.index);
  useEffect(() => {
    if (at >= 0) virtual.scrollToIndex(at, { align: 'auto' });
  }, [at, virtual]);
  const go = (index: number) => {
    const next = shown[Math.min(Math.max(index, 0), shown.length - 1)];
    if (next !== undefined) onChoose(next);
  };
  const inwards = () => {
    if (current === undefined || !hasSteps(current)) return;
    if (closed.has(current.step.id)) onToggle(current);
    else go(at + 1);
  };
  const outwards = () => {
    if (current === undefined) return;
    if (hasSteps(current) && !closed.has(current.step.id)) onToggle(current);
    else if (current.parent !== undefined) go(shown.findIndex(({ index }) => index === current.parent));
  };
  const keys: Record<string, () => void> = {
    ArrowDown: () => go(at + 1),
    ArrowUp: () => go(at - 1),
    ArrowRight: inwards,
    ArrowLeft: outwards,
    PageDown: () => go(at + PAGE),
    PageUp: () => go(at - PAGE),
    Home: () => go(0),
    End: () => go(shown.length - 1),
    Enter: onRead,
  };
  const press = (event: KeyboardEvent) => {
    const act = keys[event.key];
    if (act === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    act();
  };
  const items = virtual.getVirtualItems();
  const isInPage = items.some(({ index }) => index === at);
  return (
    <div
      ref={scroll}
      className="step-tree"
      role="tree"
      aria-label="Steps"
      aria-activedescendant={isInPage && current !== undefined ? rowId(current.step.id) : undefined}
      tabIndex={0}
      onKeyDown={press}
    >
      <div role="none" className="step-rows" style={{ height: virtual.getTotalSize() }}>
        {items.map((item) => {
          const placed = shown[item.index];
          return placed === undefined ? null : (
            <Row
              key={item.key}
              placed={placed}
              totalMs={tree.totalMs}
              startPx={item.start}
              isCurrent={item.index === at}
              isClosed={closed.has(placed.step.id)}
              onChoose={onChoose}
              onToggle={onToggle}
            />
          );
        })}
      </div>
    </div>
  );
}
