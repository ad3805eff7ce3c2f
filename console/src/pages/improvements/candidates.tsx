import { Link } from '@tanstack/react-router';
import { useMemo } from 'react';
import { Section } from '../../components/section.tsx';
import { useStepKeys } from '../../components/step-keys.ts';
import { CandidateCard } from './candidate-card.tsx';
import { outcomeInWords, rejectInWords } from './in-words.tsx';
import { improvementRoute } from './routes.ts';
import type { Candidate, Improvement } from './types.ts';

interface Node {
  candidate: Candidate;
  children: Node[];
}

/** The candidates below the base. One whose parent is not there is at the top. */
function treeOf(candidates: readonly Candidate[]): Node[] {
  const nodes = new Map(candidates.map((candidate) => [candidate.number, { candidate, children: [] as Node[] }]));
  const top: Node[] = [];
  for (const node of nodes.values()) {
    const parent = node.candidate.parent === null ? undefined : nodes.get(node.candidate.parent);
    (parent?.children ?? top).push(node);
  }
  return top;
}

const inOrder = (nodes: readonly Node[]): Candidate[] =>
  nodes.flatMap(({ candidate, children }) => [candidate, ...inOrder(children)]);

/** Every candidate below its parent, the chosen one beside them, and what the guard refused. */
export function Candidates({
  improvement,
  candidates,
}: {
  improvement: Improvement;
  candidates: readonly Candidate[];
}) {
  const { candidate: asked } = improvementRoute.useSearch();
  const navigate = improvementRoute.useNavigate();
  const tree = useMemo(() => treeOf(candidates), [candidates]);
  const all = useMemo(() => inOrder(tree), [tree]);
  const best = improvement.verdict?.candidate ?? improvement.best?.number ?? 0;
  const current = all.find(({ number }) => number === (asked ?? best)) ?? all[0];
  const at = current === undefined ? -1 : all.indexOf(current);
  const open = (number: number) => void navigate({ search: { candidate: number }, replace: true, resetScroll: false });
  useStepKeys((by) => {
    const next = all[at + by];
    if (next === undefined) return false;
    open(next.number);
    return true;
  });
  if (current === undefined) return null;
  return (
    <>
      <Section id="candidates" title="Candidates">
        <p className="muted">
          Each candidate is below the one that it was made from, with its score on the check examples and the difference
          from the base. <kbd>j</kbd> and <kbd>k</kbd> move.
        </p>
        <div className="changed-texts improve-candidates">
          <div className="changed-list">
            <Branch
              nodes={tree}
              current={current.number}
              verdict={improvement.verdict?.candidate ?? null}
              onOpen={open}
            />
          </div>
          <CandidateCard
            key={current.number}
            improvement={improvement}
            candidate={current}
            candidates={candidates}
            onOpen={open}
          />
        </div>
      </Section>
      <Refused id={improvement.id} candidates={candidates} />
    </>
  );
}

function Branch({
  nodes,
  current,
  verdict,
  onOpen,
}: {
  nodes: readonly Node[];
  current: number;
  verdict: number | null;
  onOpen: (number: number) => void;
}) {
  return (
    <ul className="improve-branch">
      {nodes.map(({ candidate, children }) => {
        const { number } = candidate;
        const { text, tone } = outcomeInWords(candidate);
        return (
          <li key={number}>
            <button
              type="button"
              className="changed-item"
              aria-current={number === current}
              onClick={() => onOpen(number)}
            >
              <span>
                {number === 0 ? 'Base' : number}
                {number === verdict && <span className="badge accent">tested</span>}
              </span>
              <span className={tone}>{text}</span>
            </button>
            {children.length > 0 && <Branch nodes={children} current={current} verdict={verdict} onOpen={onOpen} />}
          </li>
        );
      })}
    </ul>
  );
}

/** What the guard refused before any call, and why. */
function Refused({ id, candidates }: { id: string; candidates: readonly Candidate[] }) {
  const refused = candidates.filter(({ status }) => status === 'rejected');
  if (refused.length === 0) return null;
  return (
    <Section id="refused" title="Refused by the guard">
      <p className="muted">No call of the prompt was made with these texts.</p>
      <div className="wide-scroll" tabIndex={0} role="region" aria-label="Refused by the guard, table">
        <table className="simple-table">
          <thead>
            <tr>
              <th scope="col">Candidate</th>
              <th scope="col">Why</th>
              <th scope="col">In detail</th>
            </tr>
          </thead>
          <tbody>
            {refused.map(({ number, reject }) => (
              <tr key={number}>
                <th scope="row">
                  <Link to="/improvements/$id" params={{ id }} search={{ candidate: number }} hash="candidates">
                    {number}
                  </Link>
                </th>
                <td>{rejectInWords(reject?.code ?? '')}</td>
                <td>{reject?.message}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </Section>
  );
}
