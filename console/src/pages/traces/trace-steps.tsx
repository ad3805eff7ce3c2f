import { ChevronDown, ChevronUp } from 'lucide-react';
import { useCallback, useEffect, useMemo, useRef, useState } from 'react';
import type { Trace, TraceStep } from '../../api-types.ts';
import { Button } from '../../components/button.tsx';
import { useStepKeys } from '../../components/step-keys.ts';
import { formatMs, plural } from '../../format.ts';
import { hasDialog, keysAreOn, TYPED } from '../../shell/single-keys.ts';
import { traceRoute } from './routes.ts';
import { StepDetail } from './step-detail.tsx';
import { StepTree } from './step-tree.tsx';
import { firstCause, hasSteps, shownSteps, type Tree, type TreeStep, treeOf } from './tree.ts';

/** How long a step must be current before it is fetched and put in the URL: a held arrow key passes many steps. */
const PAUSE_MS = 150;

/** The id of the current step and the one in the URL, which follows after a pause. */
function useCurrentStep(): [id: string | undefined, settled: string | undefined, choose: (id: string) => void] {
  const { step } = traceRoute.useSearch();
  const navigate = traceRoute.useNavigate();
  const [current, setCurrent] = useState(step);
  const [seen, setSeen] = useState(step);
  const [sent, setSent] = useState(step);
  // Back and forward also change the URL.
  if (step !== seen) {
    setSeen(step);
    if (step !== sent) setCurrent(step);
  }
  useEffect(() => {
    if (current === step) return;
    const timer = setTimeout(() => {
      setSent(current);
      void navigate({ search: { step: current }, replace: true, resetScroll: false });
    }, PAUSE_MS);
    return () => clearTimeout(timer);
  }, [current, step, navigate]);
  return [current, step, setCurrent];
}

/** `e` goes to the next failed step, Shift+`e` to the previous one. */
function useErrorKey(go: (by: 1 | -1) => void): void {
  const latest = useRef(go);
  useEffect(() => {
    latest.current = go;
  });
  useEffect(() => {
    const press = ({ key, target, defaultPrevented, ctrlKey, metaKey, altKey }: KeyboardEvent) => {
      if (defaultPrevented || ctrlKey || metaKey || altKey || key.toLowerCase() !== 'e') return;
      if ((target instanceof Element && target.matches(TYPED)) || hasDialog() || !keysAreOn()) return;
      latest.current(key === 'e' ? 1 : -1);
    };
    document.addEventListener('keydown', press);
    return () => document.removeEventListener('keydown', press);
  }, []);
}

const NONE_CLOSED: ReadonlySet<string> = new Set();

/** The ids of all steps with children, except the top ones. */
const allClosed = ({ steps }: Tree): ReadonlySet<string> =>
  new Set(steps.filter((each) => each.depth > 0 && hasSteps(each)).map(({ step }) => step.id));

/** The next or previous failed step from an index in the tree; wraps around. */
function nextError({ errors }: Tree, from: number, by: 1 | -1): TreeStep | undefined {
  return by === 1
    ? (errors.find(({ index }) => index > from) ?? errors[0])
    : (errors.findLast(({ index }) => index < from) ?? errors.at(-1));
}

/** The steps of a trace: the tree with its timeline, beside the texts of the current step. */
export function TraceSteps({ trace, steps }: { trace: Trace; steps: readonly TraceStep[] }) {
  const tree = useMemo(() => treeOf(steps), [steps]);
  const [closed, setClosed] = useState(NONE_CLOSED);
  const shown = useMemo(() => shownSteps(tree, closed), [tree, closed]);
  const [chosenId, settledId, chooseId] = useCurrentStep();
  const heading = useRef<HTMLHeadingElement>(null);
  // Start at the error, if there is one.
  const first = firstCause(tree) ?? tree.steps[0];
  const stepOf = (id: string | undefined) => tree.byId.get(id ?? '') ?? first;
  const current = stepOf(chosenId);
  const detailed = stepOf(settledId);
  const choose = useCallback(
    (placed: TreeStep) => {
      chooseId(placed.step.id);
      setClosed((before) => withOpen(before, tree, placed));
    },
    [chooseId, tree],
  );
  const toggle = useCallback(({ step }: TreeStep) => {
    setClosed((before) => {
      const next = new Set(before);
      if (!next.delete(step.id)) next.add(step.id);
      return next;
    });
  }, []);
  const goToError = (by: 1 | -1) => {
    const next = nextError(tree, current?.index ?? -1, by);
    if (next !== undefined) choose(next);
  };
  useErrorKey(goToError);
  useStepKeys((by) => {
    const at = shown.findIndex(({ index }) => index === current?.index);
    const next = shown[at + by];
    if (next !== undefined) choose(next);
    return true;
  });
  // A closed ancestor represents the steps below it.
  const visible = current && shown.findLast(({ index, end }) => index <= current.index && current.index < end);
  if (tree.steps.length === 0) return <p className="muted">The steps were deleted.</p>;
  const closeable = tree.steps.some((each) => each.depth > 0 && hasSteps(each));
  return (
    <div className="trace-body">
      <div className="stack trace-tree">
        <div className="row">
          {tree.errors.length > 0 && (
            <>
              <strong className="execution-error">{plural(tree.errors.length, 'step failed', 'steps failed')}</strong>
              <Button look="small" title="The failed step before (Shift+E)" onClick={() => goToError(-1)}>
                <ChevronUp size={16} aria-hidden />
                Previous error
              </Button>
              <Button look="small" title="The next failed step (e)" aria-keyshortcuts="e" onClick={() => goToError(1)}>
                <ChevronDown size={16} aria-hidden />
                Next error
              </Button>
            </>
          )}
          {closeable && (
            <Button look="small plain" onClick={() => setClosed(closed.size === 0 ? allClosed(tree) : NONE_CLOSED)}>
              {closed.size === 0 ? 'Close all' : 'Open all'}
            </Button>
          )}
        </div>
        <div>
          <div className="step-axis" aria-hidden="true">
            <span />
            <span>0</span>
            <span>{formatMs(tree.totalMs / 2)}</span>
            <span>{formatMs(tree.totalMs)}</span>
          </div>
          <StepTree
            tree={tree}
            shown={shown}
            current={visible}
            closed={closed}
            onChoose={choose}
            onToggle={toggle}
            onRead={() => heading.current?.focus()}
          />
        </div>
      </div>
      {detailed && <StepDetail key={detailed.step.id} trace={trace} placed={detailed} heading={heading} />}
    </div>
  );
}

/** The closed steps, without the ancestors of a step. */
function withOpen(closed: ReadonlySet<string>, { steps }: Tree, placed: TreeStep): ReadonlySet<string> {
  const next = new Set(closed);
  for (let above = placed.parent; above !== undefined; above = steps[above]?.parent) {
    const step = steps[above]?.step;
    if (step !== undefined) next.delete(step.id);
  }
  return next.size === closed.size ? closed : next;
}
